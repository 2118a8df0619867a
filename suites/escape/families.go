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

// family is one kind of socket: family, type, protocol.
type family [3]uint64

var _ = kit.Table(catalog.Case{
	ID:     "ESC-005",
	Title:  "makes no socket of a family that it does not need",
	Must:   "Socket families other than INET, INET6 and UNIX, and of NETLINK all but ROUTE, MUST be refused.",
	Level:  catalog.Security,
	Clause: "11.5",
	Needs:  []subject.Capability{subject.Seccomp},
	Faults: []string{"families-unchecked"},
	Why:    "VSOCK knows no network namespace and reaches the machine's hypervisor; the others load modules and open old code of the kernel.",
}, []kit.Row[family]{
	{Name: "packet", Value: family{unix.AF_PACKET, unix.SOCK_RAW, 0}},
	{Name: "vsock", Value: family{unix.AF_VSOCK, unix.SOCK_STREAM, 0}},
	{Name: "alg", Value: family{unix.AF_ALG, unix.SOCK_SEQPACKET, 0}},
	{Name: "xdp", Value: family{unix.AF_XDP, unix.SOCK_RAW, 0}},
	{Name: "bluetooth", Value: family{unix.AF_BLUETOOTH, unix.SOCK_SEQPACKET, 0}}, // BTPROTO_L2CAP
	{Name: "rds", Value: family{unix.AF_RDS, unix.SOCK_SEQPACKET, 0}},
	{Name: "tipc", Value: family{unix.AF_TIPC, unix.SOCK_SEQPACKET, 0}},
	{Name: "netlink-audit", Value: family{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}},
	{Name: "netlink-uevent", Value: family{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}},
	{Name: "netlink-generic", Value: family{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC}},
}, func(ctx context.Context, t *kit.T, f family) {
	socket := attempt.Attempt{Op: attempt.OpSocket, Words: f[:]}
	// A bare namespace has the capability that PACKET and XDP ask for.
	control := t.Bare(ctx).Do(ctx, socket)
	if slices.Contains([]string{"EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT"}, control.Errno) {
		t.Moot("this kernel has no such family")
	}
	t.Control("a bare namespace makes such a socket", control, kit.Succeed())

	for _, profile := range profiles {
		agent := t.Start(ctx, subject.Spec{Seccomp: profile}).Agent
		t.Control("a socket that every agent needs, profile "+profile, agent.Do(ctx, plain), kit.Succeed())
		t.Attempt("such a socket, profile "+profile, agent.Do(ctx, socket), kit.HaveErrno("EAFNOSUPPORT", "EPROTONOSUPPORT", "EPERM", "EACCES"))
	}
})

var plain = attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}}

// profiles are the system call filters that a spec can ask for.
var profiles = []string{"baseline", "strict"}
