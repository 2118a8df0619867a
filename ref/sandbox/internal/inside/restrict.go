package inside

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
	"bridgecheck/ref/sandbox/seccomp"
)

// restrict puts every restriction on the calling thread, from which the agent
// is forked. It gives the Landlock ABI in force, 0 when Landlock was not asked
// for.
func restrict(cfg *wire.Config) (abi int, err error) {
	if err := dropCapabilities(cfg.Level); err != nil {
		return 0, at("capabilities", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, at("no-new-privs", fmt.Errorf("prctl(PR_SET_NO_NEW_PRIVS): %w", err))
	}
	if cfg.Landlock {
		if abi, err = landlocked(cfg); err != nil {
			return 0, at("landlock", err)
		}
	}
	return abi, at("seccomp", filter(cfg))
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
