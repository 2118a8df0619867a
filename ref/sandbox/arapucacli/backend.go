package arapucacli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"bridgecheck/ref/sandbox/external"
)

// The limits that arapuca documents for its proxy.
const (
	idleSeconds = 300
	connections = 64
	headBytes   = 2048
)

// Backend is the executable.
type Backend struct {
	// Path is looked up in PATH when it holds no slash; "" is arapuca.
	Path string
}

// Check tells whether there is such an executable.
func (b Backend) Check() error {
	if err := b.command().Err; err != nil {
		return fmt.Errorf("%w: install arapuca, or name its path", err)
	}
	if b.version() == "" {
		return fmt.Errorf("%s -V tells no version: is it arapuca?", b.command().Path)
	}
	return nil
}

// command is one call. Whatever stands at the path, it is called by the name.
func (b Backend) command(args ...string) *exec.Cmd {
	path := b.Path
	if path == "" {
		path = "arapuca"
	}
	cmd := exec.Command(path, args...)
	cmd.Args[0] = "arapuca"
	return cmd
}

// About tells the version, and the fields for which there are options.
func (b Backend) About() external.About {
	version := b.version()
	a := external.About{
		Name: "arapuca-cli", Versions: map[string]string{"arapuca": version}, Double: strings.HasSuffix(version, "-double"),
		IdleSeconds: idleSeconds, Connections: connections, HeadBytes: headBytes,
	}
	for _, f := range []struct {
		field external.Field
		args  []string
	}{
		{external.FieldAllowedHosts, []string{"--allow-host", "a.example:1"}},
		{external.FieldOwnNetwork, []string{"--deny-network"}},
		{external.FieldSeccomp, []string{"--seccomp", "baseline"}},
		{external.FieldMemory, []string{"--memory", "64"}},
		{external.FieldPIDs, []string{"--pids", "64"}},
	} {
		if b.knows(f.args) {
			a.Fields = append(a.Fields, f.field)
		}
	}
	return a
}

// version is what -V prints, on stderr; empty when there is nothing to ask.
func (b Backend) version() string {
	_, version, _ := strings.Cut(strings.TrimSpace(b.says("-V")), " ")
	return version
}

// knows tells whether an option is one. Without a command after -- nothing is
// started, and what is wrong with an option is said first: about one that there is
// not the same is said as about one that nobody has.
func (b Backend) knows(args []string) bool {
	const nobodys = "--bridgecheck-asks"
	unknown := b.says(append([]string{"run", nobodys}, args[1:]...)...)
	said := b.says(append([]string{"run"}, args...)...)
	return unknown != "" && said != "" && strings.ReplaceAll(said, args[0], nobodys) != unknown
}

// says gives both outputs of a call that starts nothing.
func (b Backend) says(args ...string) string {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := b.command(args...)
	cmd := exec.CommandContext(ctx, c.Path)
	cmd.Args, cmd.Err, cmd.WaitDelay = c.Args, c.Err, time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run() // what it says is all that counts
	return said.String()
}

// Launch runs the agent below `arapuca run`.
func (b Backend) Launch(ctx context.Context, l external.Launch, stdin, stdout, stderr *os.File) (external.Process, error) {
	args, err := arguments(l, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	p, err := start(b.command(args...), stdin, stdout, stderr)
	if err != nil {
		return nil, fmt.Errorf("start arapuca: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = p.Kill() })
	return p, nil
}

var _ external.Backend = Backend{}
