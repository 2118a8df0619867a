package probe

import (
	"context"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// setLink tries to take an interface down, by netlink (down) or by ioctl
// (down-ioctl), to add one, or to add an address to one. What succeeded is undone at once: the
// attempts that follow need the network as it was.
func (p *Probe) setLink(_ context.Context, a attempt.Attempt) attempt.Observation {
	if len(a.Args) != 1 || a.Address == "" {
		return refused("set-link needs an interface and one of down, down-ioctl, add-dummy, add-veth, add-address")
	}
	switch a.Args[0] {
	case "down":
		return failed(downByNetlink(a.Address))
	case "down-ioctl":
		return failed(downByIoctl(a.Address))
	case "add-dummy":
		return failed(addLink(&netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: a.Address}}))
	case "add-veth":
		return failed(addLink(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: a.Address}, PeerName: a.Address + "p"}))
	case "add-address":
		return failed(addAddress(a.Address))
	}
	return refused("set-link %q", a.Args[0])
}

func addLink(link netlink.Link) error {
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("add %s %s: %w", link.Type(), link.Attrs().Name, err)
	}
	return netlink.LinkDel(link)
}

// addAddress uses a documentation address (RFC 5737).
func addAddress(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	address, err := netlink.ParseAddr("192.0.2.77/32")
	if err != nil {
		return fmt.Errorf("parse address: %w", err)
	}
	if err := netlink.AddrAdd(link, address); err != nil {
		return fmt.Errorf("add an address to %s: %w", name, err)
	}
	return netlink.AddrDel(link, address)
}

func downByNetlink(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	if err := netlink.LinkSetDown(link); err != nil {
		return fmt.Errorf("set %s down: %w", name, err)
	}
	return netlink.LinkSetUp(link)
}

// downByIoctl uses SIOCSIFFLAGS (netdevice(7)), which needs no netlink socket.
func downByIoctl(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	request, err := unix.NewIfreq(name)
	if err != nil {
		return &noAttempt{err.Error()}
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, request); err != nil {
		return os.NewSyscallError("SIOCGIFFLAGS", err)
	}
	flags := request.Uint16()
	request.SetUint16(flags &^ unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return os.NewSyscallError("SIOCSIFFLAGS", err)
	}
	request.SetUint16(flags)
	return os.NewSyscallError("SIOCSIFFLAGS", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request))
}
