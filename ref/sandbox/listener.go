package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// Listener is a loopback door of the sandbox: it was made inside, on 127.0.0.1
// or [::1] of the sandbox's own network, and is accepted on outside. The agent
// cannot take its port. At the shared levels it is an ephemeral port of the
// host's 127.0.0.1, which others on the host reach as well.
type Listener struct {
	net.Listener
	Asked uint16 // the port of Spec.Ports it was made for
	Port  uint16 // the port it has
	V6    bool
}

// adopt takes over the descriptors that the init process handed over.
func (s *Sandbox) adopt(report *wire.Report, fds []int) error {
	if report.Terminal {
		return s.adoptTerminal(fds)
	}
	told := report.Listeners
	if len(told) != len(fds) {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return fmt.Errorf("the init process told of %d listeners and sent %d", len(told), len(fds))
	}
	var errs []error
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "listener")
		l, err := net.FileListener(f) // a copy
		if err := errors.Join(err, f.Close()); err != nil {
			errs = append(errs, fmt.Errorf("adopt the listener on port %d: %w", told[i].Port, err))
			continue
		}
		s.listeners = append(s.listeners, Listener{Listener: l, Asked: told[i].Asked, Port: told[i].Port, V6: told[i].V6})
	}
	return errors.Join(errs...)
}

// hostListeners make one ephemeral door for each port asked for.
func hostListeners(ports []uint16) ([]Listener, error) {
	var all []Listener
	for _, asked := range ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			closeAll(all)
			return nil, err
		}
		port := uint16(l.Addr().(*net.TCPAddr).Port)
		all = append(all, Listener{Listener: l, Asked: asked, Port: port})
	}
	return all, nil
}

func closeAll(all []Listener) {
	for _, l := range all {
		_ = l.Close() // the user of the listener may have closed it
	}
}
