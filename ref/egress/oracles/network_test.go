package oracles

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// allAddressesLocal makes this network namespace a world in which each address
// is the machine itself: who listens on all of them gets every connection.
func allAddressesLocal() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback interface: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring up the loopback interface: %w", err)
	}
	for _, all := range []string{"0.0.0.0/0", "::/0"} {
		_, dst, err := net.ParseCIDR(all)
		if err != nil {
			return err
		}
		route := netlink.Route{
			LinkIndex: lo.Attrs().Index, Dst: dst, Type: unix.RTN_LOCAL, Table: unix.RT_TABLE_LOCAL, Scope: unix.RT_SCOPE_HOST,
		}
		if err := netlink.RouteAdd(&route); err != nil {
			return fmt.Errorf("make %s local: %w", all, err)
		}
	}
	// From ::1 alone there is no source for a global address.
	addr, err := netlink.ParseAddr("2001:db8:ffff::1/128")
	if err != nil {
		return err
	}
	addr.Flags = unix.IFA_F_NODAD
	if err := netlink.AddrAdd(lo, addr); err != nil {
		return fmt.Errorf("add a global IPv6 address: %w", err)
	}
	return nil
}

// systemFiles make the C library of the proxies that are no Go programs ask the
// scripted server, and nothing else.
var systemFiles = map[string]string{
	"/etc/resolv.conf":   "nameserver 127.0.0.1\noptions attempts:1 timeout:2\n",
	"/etc/hosts":         "127.0.0.1 localhost\n::1 localhost\n",
	"/etc/nsswitch.conf": "hosts: files dns\npasswd: files\ngroup: files\n",
}

// replaceSystemFiles covers them in this mount namespace, and the shared memory,
// where all squids use the same names.
func replaceSystemFiles(dir string) error {
	for path, text := range systemFiles {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			continue // the C library's own default is as good
		}
		cover := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(cover, []byte(text), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(cover, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cover %s: %w", path, err)
		}
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", 0, ""); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("cover /dev/shm: %w", err)
	}
	return nil
}
