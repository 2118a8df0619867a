package lifecycle

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:      "LIF-014",
	Title:   "keeps the servers' sockets where nobody else can come in",
	Must:    "The socket directory MUST be 0700 and owned by the caller; another user MUST NOT be able to connect; a planted symlink MUST be refused.",
	Level:   catalog.Security,
	Clause:  "6.14",
	Needs:   []subject.Capability{subject.HostServers, subject.Events},
	Host:    []catalog.HostFact{catalog.HostUserNS},
	RowHost: []catalog.HostFact{catalog.HostTwoUIDs},
	Faults:  []string{"socket-directory-open", "runtime-symlink-followed", "runtime-base-open"},
	Why:     "A server on a Unix socket acts for whoever connects, and /tmp is everybody's.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "mode", Value: closedDirectory},
	{Name: "other-user", Value: otherUser},
	{Name: "symlink", Value: plantedSymlink},
	{Name: "base-open", Value: openBase},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func closedDirectory(ctx context.Context, t *kit.T) {
	open := t.Dir("open")
	t.Control("a directory that is not closed", modeAndOwner(t, open), kit.Be(fmt.Sprintf("0755 of %d", os.Getuid())))
	socket := socketOf(ctx, t, nil)
	t.Attempt("mode and owner of the socket's directory", modeAndOwner(t, filepath.Dir(socket)), kit.Be(fmt.Sprintf("0700 of %d", os.Getuid())))
}

// otherUser uses a runtime directory that others may enter: what keeps them out
// is the subject's own doing.
func otherUser(ctx context.Context, t *kit.T) {
	t.RequireHost(catalog.HostTwoUIDs)
	runtime, other := t.Dir("runtime"), t.OtherUser(ctx)
	open := runtime + "/open.sock"
	listener, err := net.Listen("unix", open)
	if err != nil {
		t.Fatal("listen: %v", err)
	}
	defer listener.Close()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal("open the socket: %v", err)
	}
	t.Control("an open socket in the same place, as another user", other.Dial(ctx, "unix", open), kit.Succeed())
	socket := socketOf(ctx, t, &subject.Paths{Runtime: runtime})
	t.Control("the server's socket, as the caller", t.Outside(ctx).Dial(ctx, "unix", socket), kit.Succeed())
	t.Attempt("the server's socket, as another user", other.Dial(ctx, "unix", socket), kit.HaveErrno("EACCES", "EPERM", "ENOENT"))
}

func plantedSymlink(ctx context.Context, t *kit.T) {
	victim := t.Dir("victim")
	t.Control("the directory itself", socketOf(ctx, t, &subject.Paths{Runtime: victim}), kit.Differ(""))
	link := t.Dir("planted") + "/runtime"
	if err := os.Symlink(t.Dir("elsewhere"), link); err != nil {
		t.Fatal("plant symlink: %v", err)
	}
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("behind")}, Paths: &subject.Paths{Runtime: link}})
	t.Attempt("a symlink in its place", phase.Fate(ctx), kit.Be("exit code 125"))
	t.Attempt("error events", phase.Events(subject.EventError), kit.Differ([]subject.Event(nil)))
	left, err := os.ReadDir(t.Dir("elsewhere"))
	t.FarSide("files made where it leads", len(left), kit.BeNone())
	if err != nil {
		t.Fatal("read directory: %v", err)
	}
}

// openBase lets everybody write to the runtime directory: without the sticky
// bit, who writes there can put a directory of his own in the subject's place.
func openBase(ctx context.Context, t *kit.T) {
	base := t.Dir("base")
	for _, mode := range []os.FileMode{0o777 | os.ModeSticky, 0o777} {
		if err := os.Chmod(base, mode); err != nil {
			t.Fatal("open the runtime directory: %v", err)
		}
		if mode&os.ModeSticky != 0 {
			t.Control("the directory with the sticky bit", socketOf(ctx, t, &subject.Paths{Runtime: base}), kit.Differ(""))
		}
	}
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("behind")}, Paths: &subject.Paths{Runtime: base}})
	t.Attempt("the directory without it", phase.Fate(ctx), kit.Be("exit code 125"))
	t.Attempt("error events", phase.Events(subject.EventError), kit.Differ([]subject.Event(nil)))
}

// socketOf runs a phase with a server and returns the path of its socket.
func socketOf(ctx context.Context, t *kit.T, paths *subject.Paths) string {
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("behind")}, Paths: paths})
	t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	socket := of(phase.Events(subject.EventServerStarted), "behind").Socket
	if socket == "" {
		t.NotApplicable("the subject serves its servers on no Unix socket")
	}
	return socket
}

func modeAndOwner(t *kit.T, path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal("look at %s: %v", path, err)
	}
	return fmt.Sprintf("%04o of %d", info.Mode().Perm(), info.Sys().(*syscall.Stat_t).Uid)
}
