package launcher

import (
	"bytes"
	"context"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	arapuca "github.com/LeGambiArt/go-arapuca"

	"bridgecheck/ref/arapuca/internal/optional"
	"bridgecheck/ref/sandbox/external"
)

// Mode is which of two ways out an agent gets.
type Mode string

// The modes.
const (
	Proxy Mode = "proxy" // NetworkProxySocket: the bridge's own proxy, with MCP servers on the host
	Hosts Mode = "hosts" // AllowedHosts: arapuca's proxy, with MCP servers in the sandbox
)

// LibraryVersion is that of libarapuca, as pkg-config told the build: the library
// itself cannot be asked. Set it by -ldflags -X; empty is unknown.
var LibraryVersion string

// BindingVersion is that of a checkout of go-arapuca, which has none of its own.
// Set it by -ldflags -X; empty is the place it was built from.
var BindingVersion string

// Backend is go-arapuca.
type Backend struct{ Mode Mode }

// The limits that arapuca documents for its relay and its proxy.
const (
	idleSeconds = 300
	connections = 64
	headBytes   = 2048 // of its own proxy
)

// About tells what the linked go-arapuca can do, and which program it finds.
func (b Backend) About() external.About {
	a := external.About{
		Name: "go-arapuca", Versions: Versions(), Double: double(),
		IdleSeconds: idleSeconds, Connections: connections,
		Fields: []external.Field{external.FieldOwnNetwork, external.FieldMemory, external.FieldPIDs},
	}
	offer := func(f external.Field, has bool) {
		if has {
			a.Fields = append(a.Fields, f)
		}
	}
	var cfg arapuca.Config
	offer(external.FieldProxySocket, b.Mode != Hosts)
	if b.Mode == Hosts && optional.Has(&cfg, "AllowedHosts") {
		a.Fields, a.HeadBytes = append(a.Fields, external.FieldAllowedHosts), headBytes
	}
	offer(external.FieldOwnPIDs, optional.Has(&cfg.Profile, "UsePidNS"))
	offer(external.FieldSeccomp, optional.Has(&cfg.Profile, "SeccompProfile"))
	offer(external.FieldFiles, optional.Has(&cfg.Profile, "MaxOpenFiles"))
	return a
}

// Versions are those of go-arapuca, of libarapuca and of the program arapuca, as
// far as each can be told.
func Versions() map[string]string {
	all := moduleVersion()
	if LibraryVersion != "" {
		all["libarapuca"] = LibraryVersion
	}
	if v := programVersion(); v != "" {
		all["arapuca"] = v
	}
	return all
}

const module = "github.com/LeGambiArt/go-arapuca"

// moduleVersion is that of the module that was linked. A checkout has none of its
// own: its commit is told then, or where it was.
func moduleVersion() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return map[string]string{}
	}
	for _, m := range info.Deps {
		switch {
		case m.Path != module:
		case m.Replace != nil:
			from := BindingVersion
			if from == "" {
				from = m.Replace.Path
			}
			return map[string]string{"go-arapuca": m.Replace.Version, "go-arapuca-from": from}
		default:
			return map[string]string{"go-arapuca": m.Version}
		}
	}
	return map[string]string{}
}

// programVersion is what `arapuca -V` says; it says so on its standard error.
func programVersion() string {
	path := arapuca.WrapperPath()
	if path == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-V")
	cmd.Args[0] = "arapuca"
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if cmd.Run() != nil {
		return ""
	}
	_, version, _ := strings.Cut(strings.TrimSpace(said.String()), " ")
	return version
}

// double tells whether something stands in for go-arapuca, or for the program.
func double() bool {
	_, stands := any((*arapuca.Sandbox)(nil)).(interface{ IsDouble() bool })
	return stands || strings.HasSuffix(programVersion(), "-double")
}
