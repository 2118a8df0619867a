package inside

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
	"bridgecheck/ref/sandbox/seccomp"
)

// applied is what the restrictions tell the self-check.
type applied struct {
	abi     int // of Landlock; 0 when it was not asked for
	filters int // seccomp filters there were before ours
}

// restrict puts every restriction on the calling thread, from which the agent
// is forked.
func restrict(cfg *wire.Config) (a applied, err error) {
	// 1 is "no core dump" also where the host pipes them to a program of its
	// own, which 0 is not, core(5).
	noCore := unix.Rlimit{Cur: 1, Max: 1}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &noCore); err != nil {
		return a, at("limits", fmt.Errorf("setrlimit(RLIMIT_CORE): %w", err))
	}
	if err := dropCapabilities(cfg.Level); err != nil {
		return a, at("capabilities", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return a, at("no-new-privs", fmt.Errorf("prctl(PR_SET_NO_NEW_PRIVS): %w", err))
	}
	if cfg.Landlock {
		if a.abi, err = landlocked(cfg); err != nil {
			return a, at("landlock", err)
		}
	}
	if a.filters, err = countFilters(); err != nil {
		return a, at("seccomp", err)
	}
	return a, at("seccomp", filter(cfg))
}

// countFilters gives the number of this thread's filters; a container's, or an
// outer sandbox's, are among them.
func countFilters() (int, error) {
	status, err := threadStatus()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(status["Seccomp_filters"])
	if err != nil {
		return 0, fmt.Errorf("read Seccomp_filters in /proc/thread-self/status: %w", err)
	}
	return n, nil
}

func filter(cfg *wire.Config) error {
	o := seccomp.Options{NoUnix: cfg.Level == wire.SharedNone}
	switch cfg.Seccomp {
	case "off":
		return nil
	case "strict":
		o.Strict = true
	case "baseline":
	default:
		return errors.New("unknown profile " + cfg.Seccomp)
	}
	raw, err := seccomp.Program(o)
	if err != nil {
		return err
	}
	return seccomp.Install(raw)
}
