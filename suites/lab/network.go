package lab

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// ranges are local to the lab: any address in them can be bound. The
// documentation ranges (RFC 5737, RFC 3849) stand for public addresses, the
// others are there so that a proxy that dials them is seen to.
var ranges = []string{
	"203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24", "2001:db8::/32",
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10",
	"198.18.0.0/15", "192.0.0.0/24", "240.0.0.0/4", "0.0.0.0/8", "168.63.129.16/32",
	"fc00::/7", "fec0::/10", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::ffff:0:0:0/96", "::/96",
}

// sysctls belong to the network namespace; the checks bind ports 53 and 80
// without a capability and IPv6 addresses that no interface holds.
var sysctls = []struct {
	path, value string
	must        bool
}{
	{"/proc/sys/net/ipv4/ip_unprivileged_port_start", "0", true},
	{"/proc/sys/net/ipv6/conf/all/disable_ipv6", "0", false},
	{"/proc/sys/net/ipv6/conf/lo/disable_ipv6", "0", false},
	{"/proc/sys/net/ipv6/ip_nonlocal_bind", "1", false},
}

// PrepareNetwork gives the lab's loopback interface its ranges. It is called
// again after every check that runs as root: a subject without a namespace of
// its own could have taken the lab's apart.
func PrepareNetwork() error {
	for _, s := range sysctls {
		if err := os.WriteFile(s.path, []byte(s.value), 0); err != nil && s.must {
			return fmt.Errorf("sysctl: %w", err)
		}
	}
	allowPing()
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find lo: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("set lo up: %w", err)
	}
	for _, r := range ranges {
		_, dst, err := net.ParseCIDR(r)
		if err != nil {
			return fmt.Errorf("range %s: %w", r, err)
		}
		route := &netlink.Route{
			LinkIndex: lo.Attrs().Index, Dst: dst, Table: unix.RT_TABLE_LOCAL,
			Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST,
		}
		err = netlink.RouteReplace(route)
		// Without IPv6 the lab still serves IPv4; the host fact says so.
		if err != nil && (dst.IP.To4() != nil || !noIPv6(err)) {
			return fmt.Errorf("local range %s: %w", r, err)
		}
	}
	return nil
}

// allowPing lets everybody ping, icmp(7). The kernel takes only groups that the
// user namespace has, so the widest range that is taken counts; where none is,
// the control of the check that pings says so.
func allowPing() {
	own := os.Getegid()
	for _, last := range []int{1<<31 - 1, 65535, 65534, own} {
		first := 0
		if last == own {
			first = own
		}
		if os.WriteFile("/proc/sys/net/ipv4/ping_group_range", fmt.Appendf(nil, "%d %d", first, last), 0) == nil {
			return
		}
	}
}

func noIPv6(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EACCES)
}
