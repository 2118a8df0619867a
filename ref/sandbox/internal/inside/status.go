package inside

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// threadStatus is the kernel's own account of this thread, proc_pid_status(5).
func threadStatus() (map[string]string, error) {
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		all[name] = strings.TrimSpace(value)
	}
	return all, nil
}

func checkStatus(cfg *wire.Config, a applied, layers map[string]string) error {
	status, err := threadStatus()
	if err != nil {
		return err
	}
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
	if strings.Trim(status["CapBnd"], "0") != "" {
		layers["capabilities"] = missing
	}
	if got := status["NoNewPrivs"]; got != "1" {
		return fmt.Errorf("no_new_privs is not in force: NoNewPrivs is %q", got)
	}
	layers["no-new-privs"] = on
	layers["seccomp"] = off
	if cfg.Seccomp == "off" {
		return nil
	}
	// The mode alone would be a container's filter as well.
	now, err := countFilters()
	if err != nil {
		return err
	}
	if status["Seccomp"] != filterMode || now != a.filters+1 {
		return fmt.Errorf("the seccomp filter is not in force: Seccomp is %q, with %d filters after %d", status["Seccomp"], now, a.filters)
	}
	layers["seccomp"] = on
	return nil
}

// filterMode is SECCOMP_MODE_FILTER as /proc tells it.
const filterMode = "2"

// checkInterfaces proves that lo is up and nothing else is. Hosts with tunnel
// modules plant sit0 and its like, down, in every new namespace. The list is
// read from /proc: sysfs shows the mounter's namespace, and netlink may be
// filtered.
func checkInterfaces(cfg *wire.Config, _ applied, _ map[string]string) error {
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
