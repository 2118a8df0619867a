package inside

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// checkStatus reads the kernel's own account of the thread, proc_pid_status(5).
func checkStatus(cfg *wire.Config, layers map[string]string) error {
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return err
	}
	status := fields(string(text))
	sets := []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}
	if cfg.Level == wire.SharedNone {
		sets = []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} // the bounding set may stay, see dropCapabilities
	}
	for _, set := range sets {
		if got := status[set]; got == "" || strings.Trim(got, "0") != "" {
			return fmt.Errorf("a capability is left: %s is %q", set, got)
		}
	}
	layers["capabilities"] = on
	if got := status["NoNewPrivs"]; got != "1" {
		return fmt.Errorf("no_new_privs is not in force: NoNewPrivs is %q", got)
	}
	layers["no-new-privs"] = on
	layers["seccomp"] = off
	if cfg.Seccomp != "off" {
		if got := status["Seccomp"]; got != "2" { // SECCOMP_MODE_FILTER
			return fmt.Errorf("the seccomp filter is not in force: Seccomp is %q", got)
		}
		// A filter of the container's would look the same: ask for what only
		// ours refuses in this way.
		if err := unix.Unshare(unix.CLONE_NEWUTS); !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("the seccomp filter is not in force: unshare(CLONE_NEWUTS) gave %w", err)
		}
		if fd, err := unix.Socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0); !errors.Is(err, unix.EAFNOSUPPORT) {
			closeFD(fd)
			return fmt.Errorf("the seccomp filter is not in force: socket(AF_ALG) gave %w", err)
		}
		layers["seccomp"] = on
	}
	return nil
}

func fields(status string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		all[name] = strings.TrimSpace(value)
	}
	return all
}

// checkInterfaces proves that lo is up and nothing else is. Hosts with tunnel
// modules plant sit0 and its like, down, in every new namespace. The list is
// read from /proc: sysfs shows the mounter's namespace, and netlink may be
// filtered.
func checkInterfaces(cfg *wire.Config, _ map[string]string) error {
	if cfg.Level != wire.Isolated {
		return nil
	}
	text, err := os.ReadFile("/proc/thread-self/net/dev")
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket(AF_INET): %w", err)
	}
	defer closeFD(fd)
	seen := false
	for line := range strings.Lines(string(text)) {
		name, _, isInterface := strings.Cut(line, ":")
		if !isInterface {
			continue // the two lines of the heading
		}
		name = strings.TrimSpace(name)
		req, err := unix.NewIfreq(name)
		if err != nil {
			return fmt.Errorf("interface %s: %w", name, err)
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
			return fmt.Errorf("ioctl(SIOCGIFFLAGS, %s): %w", name, err)
		}
		up := req.Uint16()&unix.IFF_UP != 0
		if name == "lo" {
			seen = up
		} else if up {
			return fmt.Errorf("interface %s is up: only lo may be", name)
		}
	}
	if !seen {
		return errors.New("lo is not up")
	}
	return nil
}
