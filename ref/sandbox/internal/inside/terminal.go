package inside

import (
	"fmt"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// terminal makes a pseudoterminal of the sandbox's own (of its own devpts,
// where there is a mount namespace), gives its master to the launcher, and puts
// the other end in the place of the streams that have no file. The host's
// terminal never controls the agent.
func terminal(cfg *wire.Config) error {
	// O_NOCTTY: this process leads a session, and is not to be the one it
	// controls.
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	master, err := unix.Open("/dev/ptmx", flags, 0)
	if err != nil {
		return fmt.Errorf("open /dev/ptmx: %w", err)
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("ioctl(TIOCSPTLCK): %w", err)
	}
	// By descriptor: the name of the other end may lie in another devpts.
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return fmt.Errorf("ioctl(TIOCGPTPEER): %w", errno)
	}
	cfg.Terminal = int(slave)
	for _, fd := range cfg.OnTerminal {
		if err := unix.Dup3(cfg.Terminal, fd, 0); err != nil {
			return fmt.Errorf("dup3(terminal, %d): %w", fd, err)
		}
	}
	if err := wire.Send(cfg.Control, wire.Report{Terminal: true}, master); err != nil {
		return fmt.Errorf("hand over the terminal: %w", err)
	}
	return unix.Close(master)
}
