package arapucacli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bridgecheck/ref/sandbox/external"
)

// mib is the unit of --memory.
const mib = 1 << 20

// arguments are those of the call; lookup gives the variables of this process.
func arguments(l external.Launch, lookup func(string) (string, bool)) ([]string, error) {
	args := []string{"run"}
	add := func(flag, value string) { args = append(args, flag, value) }
	for _, list := range []struct {
		field, suffix string
		paths         []string
	}{{"RO", ":ro", l.RO}, {"RW", "", l.RW}} {
		for _, p := range list.paths {
			if strings.Contains(p, ":") {
				return nil, refuse(list.field, "%q holds a colon, which arapuca takes for the beginning of an option: declare a directory above it", p)
			}
			add("-v", p+list.suffix)
		}
	}
	if l.Cwd != "" {
		add("--cwd", l.Cwd)
	}
	env, err := environment(l, lookup)
	if err != nil {
		return nil, err
	}
	for _, kv := range env {
		add("--env", kv)
	}
	for _, h := range l.AllowedHosts {
		if why := unfit(h.Host); why != "" {
			return nil, refuse("AllowedHosts", "%q %s: name the host in another way", h.Host, why)
		}
		add("--allow-host", h.Host+":"+strconv.Itoa(int(h.Port)))
	}
	if l.OwnNetwork && len(l.AllowedHosts) == 0 {
		args = append(args, "--deny-network")
	}
	if !l.OwnNetwork {
		args = append(args, "--no-pid-ns") // whatever the version's default is without one
	}
	if l.Seccomp != "" {
		add("--seccomp", l.Seccomp)
	}
	if l.Memory > 0 {
		if l.Memory < mib {
			return nil, refuse("Limits", "%d bytes of memory are less than arapuca can count: give at least %d", l.Memory, mib)
		}
		add("--memory", strconv.FormatInt(l.Memory/mib, 10)) // never more than asked
	}
	if l.PIDs > 0 {
		add("--pids", strconv.Itoa(l.PIDs))
	}
	if l.ProxySocket != "" || l.Files > 0 || l.OwnPIDs && !l.OwnNetwork {
		return nil, refuse("Spec", "something is asked for that arapuca run has no option for")
	}
	return slices.Concat(args, []string{"--", l.Path}, l.Args), nil
}

func refuse(field, format string, args ...any) error {
	return &external.Refused{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// unfit says why a host is none to arapuca.
func unfit(host string) string {
	switch {
	case strings.Contains(host, ":"):
		return "is an IPv6 address, which arapuca's rules cannot name"
	case strings.Contains(host, "_"):
		return "holds an underscore, which arapuca's rules cannot"
	}
	return ""
}

// own are variables that arapuca sets itself and lets nobody set.
var own = []string{"HOME", "TMPDIR", "PATH", "LANG"}

// environment is what can be given. Of arapuca's own variables those are left out
// that only come from this process; one that was chosen is refused. The proxy
// variables are arapuca's, and lead to the same port.
func environment(l external.Launch, lookup func(string) (string, bool)) (env []string, err error) {
	proxied := []string{fmt.Sprintf("http://127.0.0.1:%d", external.ProxyPort), "localhost,127.0.0.1,::1"}
	for _, kv := range l.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch ours, _ := lookup(name); {
		case slices.Contains(own, name) && value == ours:
		case slices.Contains(own, name):
			return nil, refuse("Env", "%q is set by arapuca itself: leave it out", name)
		case strings.HasSuffix(strings.ToUpper(name), "_PROXY") && name != "BRIDGE_PROXY" && slices.Contains(proxied, value):
		default:
			env = append(env, kv)
		}
	}
	return env, nil
}
