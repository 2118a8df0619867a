package probe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// interfaces lists what the kernel says by netlink. Where that is refused the
// interfaces come by ioctl (IPv4 only), and the refusal is the error.
func interfaces() ([]attempt.Interface, error) {
	links, err := netlink.LinkList()
	if err != nil {
		found, ioctlErr := interfacesByIoctl()
		return found, errors.Join(fmt.Errorf("list interfaces by netlink: %w", err), ioctlErr)
	}
	var found []attempt.Interface
	for _, link := range links {
		one := attempt.Interface{Name: link.Attrs().Name, Flags: flagNames(link.Attrs().RawFlags)}
		addresses, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		if err != nil {
			return found, fmt.Errorf("list addresses of %s: %w", one.Name, err)
		}
		for _, a := range addresses {
			one.Addresses = append(one.Addresses, a.IPNet.String())
		}
		found = append(found, one)
	}
	return found, nil
}

// flagNames spells the flags of netdevice(7) that tell something here.
func flagNames(flags uint32) []string {
	var names []string
	for _, flag := range []struct {
		bit  uint32
		name string
	}{
		{unix.IFF_UP, "UP"},
		{unix.IFF_BROADCAST, "BROADCAST"},
		{unix.IFF_LOOPBACK, "LOOPBACK"},
		{unix.IFF_POINTOPOINT, "POINTOPOINT"},
		{unix.IFF_RUNNING, "RUNNING"},
		{unix.IFF_NOARP, "NOARP"},
		{unix.IFF_MULTICAST, "MULTICAST"},
		{unix.IFF_LOWER_UP, "LOWER_UP"},
	} {
		if flags&flag.bit != 0 {
			names = append(names, flag.name)
		}
	}
	return names
}

// maxIndex bounds the search by index: a new namespace numbers from 1.
const maxIndex = 256

// interfacesByIoctl asks for each index in turn (netdevice(7)): SIOCGIFCONF
// would leave out interfaces without an address.
func interfacesByIoctl() ([]attempt.Interface, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	var found []attempt.Interface
	for index := range maxIndex {
		request, _ := unix.NewIfreq("")
		request.SetUint32(uint32(index))
		if unix.IoctlIfreq(fd, unix.SIOCGIFNAME, request) != nil {
			continue
		}
		one := attempt.Interface{Name: request.Name()}
		if unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, request) == nil {
			one.Flags = flagNames(uint32(request.Uint16()))
		}
		request, _ = unix.NewIfreq(one.Name)
		if unix.IoctlIfreq(fd, unix.SIOCGIFADDR, request) == nil {
			if ip, err := request.Inet4Addr(); err == nil {
				one.Addresses = []string{net.IP(ip).String()}
			}
		}
		found = append(found, one)
	}
	return found, nil
}

// routes lists the routes of every table, both families.
func routes() ([]attempt.Route, error) {
	names := map[int]string{}
	if links, err := netlink.LinkList(); err == nil {
		for _, link := range links {
			names[link.Attrs().Index] = link.Attrs().Name
		}
	}
	var found []attempt.Route
	for _, family := range []struct {
		number   int
		name     string
		fallback string
	}{{netlink.FAMILY_V4, "inet", "0.0.0.0/0"}, {netlink.FAMILY_V6, "inet6", "::/0"}} {
		all := &netlink.Route{Table: unix.RT_TABLE_UNSPEC}
		list, err := netlink.RouteListFiltered(family.number, all, netlink.RT_FILTER_TABLE)
		if err != nil {
			return found, fmt.Errorf("list %s routes: %w", family.name, err)
		}
		for _, r := range list {
			one := attempt.Route{
				Family: family.name, Destination: family.fallback,
				Interface: names[r.LinkIndex], Table: r.Table, Type: routeType(r.Type),
			}
			if r.Dst != nil {
				one.Destination = r.Dst.String()
			}
			if r.Gw != nil {
				one.Gateway = r.Gw.String()
			}
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b attempt.Route) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	return found, nil
}

// routeTypes are the names of rtnetlink(7), by number.
var routeTypes = []string{
	"unspec", "unicast", "local", "broadcast", "anycast", "multicast",
	"blackhole", "unreachable", "prohibit", "throw", "nat",
}

func routeType(number int) string {
	if number >= 0 && number < len(routeTypes) {
		return routeTypes[number]
	}
	return fmt.Sprint(number)
}
