package inside

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// backlog is how many connections wait for the host's proxy; the kernel cuts
// it to net.core.somaxconn.
const backlog = 4096

// listening is one socket to hand over.
type listening struct {
	wire.Listener
	fd int
}

// network brings up lo and makes the listeners, where the network namespace is
// the sandbox's own.
func network(cfg *wire.Config) ([]listening, error) {
	if cfg.Level != wire.Isolated {
		return nil, nil
	}
	if err := loopbackUp(); err != nil {
		return nil, at("loopback", err)
	}
	var all []listening
	for _, port := range cfg.Ports {
		pair, err := listen(port)
		if err != nil {
			return nil, at("listen", err)
		}
		all = append(all, pair...)
	}
	return all, nil
}

const upAndRunning = unix.IFF_UP | unix.IFF_RUNNING

// loopbackUp sets lo up, if it is not. The kernel gives it 127.0.0.1/8 and ::1
// by itself, at once. An lo that another has set up (a nested sandbox, gVisor)
// needs nothing, and no capability.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket(AF_INET): %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return fmt.Errorf("ioctl(SIOCGIFFLAGS, lo): %w", err)
	}
	if lo.Uint16()&upAndRunning == upAndRunning {
		return nil
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("ioctl(SIOCSIFFLAGS, lo, up): %w", err)
	}
	return nil
}

// listen makes the listeners of one port, 127.0.0.1 and ::1. Port 0 is chosen by
// the kernel once and is the same for both.
func listen(asked uint16) ([]listening, error) {
	port := asked
	v4, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket(AF_INET): %w", err)
	}
	if err := bindListen(v4, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1:%d: %w", port, err)
	}
	name, err := unix.Getsockname(v4)
	if err != nil {
		return nil, fmt.Errorf("getsockname: %w", err)
	}
	port = uint16(name.(*unix.SockaddrInet4).Port)
	both := []listening{{wire.Listener{Asked: asked, Port: port}, v4}}

	v6, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if noIPv6(err) {
		return both, nil
	}
	if err != nil {
		return nil, fmt.Errorf("socket(AF_INET6): %w", err)
	}
	if err := unix.SetsockoptInt(v6, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
		return nil, fmt.Errorf("setsockopt(IPV6_V6ONLY): %w", err)
	}
	err = bindListen(v6, &unix.SockaddrInet6{Port: int(port), Addr: [16]byte{15: 1}})
	if noIPv6(err) {
		return both, unix.Close(v6)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on [::1]:%d: %w", port, err)
	}
	return append(both, listening{wire.Listener{Asked: asked, Port: port, V6: true}, v6}), nil
}

func bindListen(fd int, sa unix.Sockaddr) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if err := unix.Bind(fd, sa); err != nil {
		return err
	}
	return unix.Listen(fd, backlog)
}

// noIPv6 tells a kernel without IPv6, or with it switched off, from a failure.
func noIPv6(err error) bool {
	return errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL)
}

// handOver gives the listeners to the launcher and keeps none: a listener held
// here would keep the port for whoever takes this process's place.
func handOver(control int, all []listening) error {
	for len(all) > 0 {
		n := min(len(all), wire.MaxDescriptors)
		var report wire.Report
		var fds []int
		for _, l := range all[:n] {
			report.Listeners = append(report.Listeners, l.Listener)
			fds = append(fds, l.fd)
		}
		if err := wire.Send(control, report, fds...); err != nil {
			return fmt.Errorf("hand over the listeners: %w", err)
		}
		for _, fd := range fds {
			if err := unix.Close(fd); err != nil {
				return fmt.Errorf("close a listener: %w", err)
			}
		}
		all = all[n:]
	}
	return nil
}
