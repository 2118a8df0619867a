package inside

import (
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// LPB-005: an lo that has its addresses before it is up, as gVisor makes it, is
// success as well.
func TestLoopbackAddressedFirst(t *testing.T) {
	needNamespace(t)
	done := make(chan error)
	go apart(func() { done <- addressThenUp() })
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// addressThenUp works in a network namespace of the calling thread's own.
func addressThenUp() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	for _, text := range []string{"127.0.0.1/8", "::1/128"} {
		address, err := netlink.ParseAddr(text)
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(lo, address); err != nil {
			return err
		}
	}
	return loopbackUp()
}
