package escape

import (
	"context"
	"slices"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// high is a bit of an argument that the kernel does not look at, since it reads
// the lower half only.
const high = 1 << 32

var _ = kit.Table(catalog.Case{
	ID:     "ESC-006",
	Title:  "finds no way round the system call filter",
	Must:   "io_uring MUST NOT be usable to make sockets, the 32-bit and x32 entries MUST be closed, and high bits in an argument MUST NOT pass a filter.",
	Level:  catalog.Security,
	Clause: "11.6",
	Needs:  []subject.Capability{subject.Seccomp},
	Faults: []string{"io-uring-allowed", "entry-unchecked", "whole-words-compared", "families-compared-whole", "typing-unfiltered", "namespaces-allowed"},
	Why:    "A filter sees numbers: of another table they mean other calls, in 64 bits they differ from what the kernel reads in 32, and a ring makes calls that no filter sees.",
}, []kit.Row[attempt.Attempt]{
	{Name: "io-uring", Value: attempt.Attempt{Call: "io_uring_setup"}},
	{Name: "socket-int80", Value: attempt.Attempt{Call: "socket-int80", Words: []uint64{unix.AF_VSOCK}}},
	{Name: "unshare-int80", Value: attempt.Attempt{Call: "unshare-int80"}},
	{Name: "socket-x32", Value: attempt.Attempt{Call: "socket-x32", Words: []uint64{unix.AF_VSOCK}}},
	{Name: "unshare-x32", Value: attempt.Attempt{Call: "unshare-x32"}},
	{Name: "ioctl-high", Value: attempt.Attempt{Call: "ioctl", Words: []uint64{0, high | unix.TIOCSTI}}},
	{Name: "socket-high", Value: attempt.Attempt{Call: "socket", Words: []uint64{high | unix.AF_NETLINK, unix.SOCK_RAW, high | unix.NETLINK_GENERIC}}},
	{Name: "clone-high", Value: attempt.Attempt{Call: "clone", Words: []uint64{high | unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}}},
}, func(ctx context.Context, t *kit.T, call attempt.Attempt) {
	call.Op = attempt.OpCall
	control := t.Bare(ctx).Do(ctx, call)
	if slices.Contains(closedEntry, control.Errno) {
		t.Moot("this kernel has no such entry: %s", control.Errno)
	}
	t.Control("the call passes in a bare namespace", control.Text, kit.Be("passed"))

	for _, profile := range profiles {
		agent := t.Start(ctx, subject.Spec{Seccomp: profile}).Agent
		t.Control("a socket that every agent needs, profile "+profile, agent.Do(ctx, plain), kit.Succeed())
		t.Attempt("the same in the sandbox, profile "+profile, agent.Do(ctx, call), kit.HaveErrno("EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT"))
	}
})

// closedEntry is what a kernel without the entry answers: no such call, a fault
// of the processor (SIGSEGV, which has no errno), or io_uring switched off by
// kernel.io_uring_disabled (EPERM). AF_VSOCK may be missing as well.
var closedEntry = []string{"ENOSYS", "other", "EPERM", "EAFNOSUPPORT"}
