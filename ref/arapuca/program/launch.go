package program

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/LeGambiArt/go-arapuca/behaviour"

	"bridgecheck/ref/cgroup"
	"bridgecheck/ref/guardian"
	"bridgecheck/ref/sandbox"
)

// bridgePort is where the relay listens in the sandbox.
const bridgePort = 18080

// launched is one command and what serves it.
type launched struct {
	box  *sandbox.Sandbox
	undo []func()
}

func (l *launched) later(undo func()) { l.undo = append(l.undo, undo) }

// close ends what is left, and clears up.
func (l *launched) close() {
	if l.box != nil {
		_ = l.box.Kill() // it may have ended
		_, _ = l.box.Wait()
	}
	for _, undo := range slices.Backward(l.undo) {
		undo()
	}
}

// launch does everything up to the command's first instruction, and that.
func launch(o *options) (_ *launched, err error) {
	l := &launched{}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if err := l.openProxy(o); err != nil {
		return nil, err
	}
	spec, err := specOf(o)
	if err != nil {
		return nil, err
	}
	group, err := l.openGroup(o)
	if err != nil {
		return nil, err
	}
	spec.Grouped = group != nil
	if l.box, err = sandbox.Launch(context.Background(), spec); err != nil {
		if failure, ok := errors.AsType[*sandbox.Failure](err); ok {
			err = fmt.Errorf("%s: %w", failure.Stage, failure.Err) // causes are not its business
		}
		return nil, err
	}
	if group != nil {
		if err := group.Add(l.box.PID()); err != nil {
			return nil, err
		}
	}
	for _, door := range l.box.Listeners() {
		if door.V6 && behaviour.Has(behaviour.IPv4Only) {
			door.Close()
			continue
		}
		go serve(door, slots(o), relay(o.socket), nil)
	}
	return l, l.box.Start()
}

// openProxy starts the proxy on a Unix socket, where there are rules.
func (l *launched) openProxy(o *options) error {
	if len(o.rules) == 0 {
		return nil
	}
	o.socket = filepath.Join(o.tmp, "connect.sock")
	listener, err := net.Listen("unix", o.socket)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	l.later(func() { listener.Close() })
	go serve(listener, connections, (&proxy{o.rules}).handle, busy)
	if !behaviour.Has(behaviour.ProxyLeft) {
		return nil
	}
	left := exec.Command("/proc/self/exe")
	left.Args = []string{"arapuca", "linger"}
	return left.Start()
}

// slots is how many connections the relay takes: as many as documented, and more
// where the proxy behind it is to answer those that are too many.
func slots(o *options) int {
	if len(o.rules) > 0 && !behaviour.Has(behaviour.LimitSilent) {
		return 2 * connections // those that the proxy is answering still count here
	}
	return connections
}

// specOf is the sandbox that the options ask for.
func specOf(o *options) (sandbox.Spec, error) {
	s := sandbox.Spec{
		Path: o.command[0], Args: o.command[1:], Env: environment(o), Cwd: o.cwd,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Level: sandbox.SharedNone, RW: show(o.rw), Landlock: true, Seccomp: sandbox.Profile(o.seccomp),
		Limits: sandbox.Limits{Memory: int64(o.memory) << 20, PIDs: o.pids, Files: o.files},
	}
	switch {
	case o.netns:
		s.Level = sandbox.Isolated
	case o.pidns:
		s.Level = sandbox.SharedUserNS
	}
	for _, p := range show(o.ro) {
		if !slices.Contains(s.RW, p) {
			s.RO = append(s.RO, p)
		}
	}
	for fd := range o.fds {
		s.Descriptors = append(s.Descriptors, 3+fd)
	}
	if o.socket != "" && o.netns {
		s.Ports = []uint16{bridgePort}
	}
	if o.seccomp == "" {
		s.Seccomp = sandbox.Strict
	}
	if !behaviour.Has(behaviour.StrictDefault) {
		return s, nil
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	s.RO = append(s.RO, self)
	s.Seccomp, s.Path, s.Args = sandbox.Off, self, append([]string{stepStrict}, o.command...)
	return s, nil
}

// environment is the command's: what the caller gave comes last and wins.
func environment(o *options) []string {
	env := []string{"HOME=/tmp", "TMPDIR=/tmp", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "LANG=C.UTF-8"}
	if o.socket != "" {
		env = append(env, "AGENT_NETWORK_PROXY="+o.socket)
	}
	if o.socket != "" && o.netns {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
			env = append(env, fmt.Sprintf("%s=http://127.0.0.1:%d", name, bridgePort))
		}
	}
	at := map[string]int{}
	var all []string
	for i, kv := range append(env, o.env...) {
		name, _, _ := strings.Cut(kv, "=")
		if i >= len(env) && behaviour.Has(behaviour.EnvDropped) && dropped(name) {
			continue
		}
		if i, ok := at[name]; ok {
			all[i] = kv
			continue
		}
		at[name] = len(all)
		all = append(all, kv)
	}
	return all
}

// dropped are variables of the caller's that arapuca keeps from the command,
// silently in the library.
func dropped(name string) bool {
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NODE_OPTIONS", "AGENT_NETWORK_PROXY":
		return true
	}
	return strings.HasPrefix(name, "ARAPUCA_") || strings.HasPrefix(name, "LD_")
}

// openGroup makes a control group for the limits, where this user may.
func (l *launched) openGroup(o *options) (*guardian.Group, error) {
	if o.memory == 0 && o.pids == 0 {
		return nil, nil
	}
	group, err := guardian.OpenGroup(cgroup.Limits{Memory: int64(o.memory) << 20, PIDs: o.pids})
	if errors.Is(err, cgroup.ErrNotDelegated) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.later(func() { _ = group.Close() }) // the guardian removes it however this ends
	return group, nil
}
