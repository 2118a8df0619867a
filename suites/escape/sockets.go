package escape

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-003",
	Title:  "cannot reach a socket of the host by its path",
	Must:   "Pathname sockets outside the declared ones MUST NOT be reachable, wherever they lie; whether one in a folder that is declared read-only is reachable MUST be as told.",
	Level:  catalog.Security,
	Clause: "11.3",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"host-files-shown", "run-and-tmp-shown", "sockets-told-wrong"},
	Why:    "One connection to the container engine, the session bus or a multiplexer is a shell on the host; a list of paths to hide is never complete.",
}, []kit.Row[string]{
	{Name: "docker", Value: "/run/docker.sock"},
	{Name: "containerd", Value: "/run/containerd/containerd.sock"},
	{Name: "podman", Value: "/run/user/UID/podman/podman.sock"},
	{Name: "dbus", Value: "/run/user/UID/bus"},
	{Name: "ssh-agent", Value: "/tmp/ssh-planted/agent.1"},
	{Name: "tmux", Value: "/tmp/tmux-UID/default"},
	{Name: "odd", Value: "WORK/x.sock"},
	{Name: "declared-read-only", Value: ""},
}, func(ctx context.Context, t *kit.T, pattern string) {
	if pattern == "" {
		readOnly(ctx, t)
		return
	}
	path := strings.NewReplacer("UID", strconv.Itoa(os.Getuid()), "WORK", t.Dir("odd")).Replace(pattern)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal("plant a socket: %v", err)
	}
	outside := t.Outside(ctx)
	listen := attempt.Attempt{Op: attempt.OpListen, Network: "unix", Address: path, Conn: "planted"}
	dial := attempt.Attempt{Op: attempt.OpDial, Network: "unix", Address: path, Data: []byte("ping"), Until: "size", Size: 4}
	t.Control("a socket listens at the path", outside.Do(ctx, listen), kit.Succeed())

	// Programs of the host say in the environment where such sockets are.
	agent := t.Start(ctx, subject.Spec{}, kit.WithEnv("SSH_AUTH_SOCK="+path)).Agent
	t.Attempt("the sandbox connects to it", agent.Do(ctx, dial), kit.HaveErrno(hidden...))
	// The control comes last: what the sandbox began has been accepted before it.
	t.Control("it answers outside", outside.Do(ctx, dial), kit.HaveData("ping"))
	t.FarSide("connections it got but the control's", int(outside.Close(ctx, "planted").Value)-1, kit.BeNone())
})

// hidden are the errnos of a file that is not there, may not be touched, or is
// covered by something that is no socket (ECONNREFUSED, as the control shows
// that there is a listener), and of an agent without such sockets.
var hidden = append([]string{"ENOENT", "ENOTDIR", "ECONNREFUSED"}, familyRefused...)

// readOnly holds what the layer sockets tells, of a folder that may be read only.
func readOnly(ctx context.Context, t *kit.T) {
	t.Require(subject.Events)
	outside, dir := t.Outside(ctx), t.Dir("declared")
	listen := attempt.Attempt{Op: attempt.OpListen, Network: "unix", Address: dir + "/x.sock", Conn: "planted"}
	dial := attempt.Attempt{Op: attempt.OpDial, Network: "unix", Address: dir + "/x.sock", Data: []byte("ping"), Until: "size", Size: 4}
	t.Control("a socket listens in the folder", outside.Do(ctx, listen), kit.Succeed())
	t.Control("it answers outside", outside.Do(ctx, dial), kit.HaveData("ping"))

	phase := t.Start(ctx, subject.Spec{Paths: &subject.Paths{RO: []string{dir}}})
	phase.Honoured(ctx, "paths")
	told := phase.Mode(ctx).Layers["sockets"]
	if told == "" {
		t.NotApplicable("the subject does not tell the layer sockets: such a socket counts as declared")
	}
	t.Control("the folder in the sandbox", phase.Agent.Do(ctx, attempt.Attempt{Op: attempt.OpListDir, Path: dir}), kit.Succeed())
	want := kit.HaveData("ping")
	if told == "on" {
		want = kit.HaveErrno(hidden...)
	}
	t.Attempt("the sandbox connects to it, and is told that the layer sockets is "+told, phase.Agent.Do(ctx, dial), want)
}
