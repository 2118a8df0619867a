package external

import (
	"fmt"
	"slices"
	"strings"

	"bridgecheck/ref/sandbox"
)

// States of a layer; what is not witnessed is missing.
const (
	on      = "on"
	missing = "missing"
)

func state(is bool) string {
	if is {
		return on
	}
	return missing
}

// filterMode is SECCOMP_MODE_FILTER.
const filterMode = 2

// layersOf compares what a witness saw with what the bridge itself sees.
func layersOf(f, own facts, s scene) map[string]string {
	differs := func(ns string) bool {
		return f.Namespaces[ns] != 0 && own.Namespaces[ns] != 0 && f.Namespaces[ns] != own.Namespaces[ns]
	}
	layers := map[string]string{
		"userns":  state(differs("user")),
		"netns":   state(differs("net") && !(s.Host != "" && f.Host == "")),
		"pidns":   state(differs("pid")),
		"mountns": state(differs("mnt")),
		"ipcns":   state(differs("ipc")),
		"utsns":   state(differs("uts")),
		// The mode alone would be a container's filter as well.
		"seccomp":      state(f.Seccomp == filterMode && (own.Seccomp != filterMode || own.Filters >= 0 && f.Filters > own.Filters)),
		"no-new-privs": state(f.NoNewPrivs),
		"capabilities": state(!f.Capabilities),
		// In a file tree of its own the hidden file is not there, and / is its own.
		"landlock": state((f.Root == "EACCES" || f.Marker == "EACCES") && (s.Hidden == "" || f.Hidden == "EACCES" || f.Hidden == "ENOENT")),
	}
	return layers
}

// judge gives the layers in force, or what is wrong with them: a layer that was
// asked for and not seen is no property of the host, and nothing weaker helps.
func judge(about About, l Launch, s scene, f, own facts) (map[string]string, error) {
	if f.Declared != "" {
		return nil, hole("a file that was declared cannot be opened: %s", f.Declared)
	}
	layers := layersOf(f, own, s)
	wanted := []string{"landlock", "no-new-privs"}
	if l.OwnNetwork {
		wanted = append(wanted, "netns")
	}
	if l.OwnPIDs {
		wanted = append(wanted, "pidns")
	}
	if l.Seccomp != "" {
		wanted = append(wanted, "seccomp")
	}
	for _, layer := range wanted {
		if layers[layer] != on {
			return nil, hole("layer %s was asked for and is not in force (seen: %s)", layer, seen(layer, f, s))
		}
	}
	if f.INET != "" && (s.Proxy != "" || !l.OwnNetwork) {
		return nil, noSockets(about, l, f.INET)
	}
	if s.Proxy == "" {
		return layers, nil
	}
	if f.Proxy != "" {
		return nil, sandbox.NewFailure(sandbox.StageListen, withErrno("nothing leads from "+s.Proxy+" to the proxy", errnoNamed(f.Proxy)))
	}
	if l.ProxySocket != "" && f.Answer != s.answer() {
		return nil, hole("%s leads to somebody else, who says %.40q", s.Proxy, f.Answer)
	}
	if l.ProxySocket == "" && !denies(f.Answer) {
		return nil, hole("the proxy at %s answers %.40q to a host that is not allowed", s.Proxy, f.Answer)
	}
	return layers, nil
}

func hole(format string, args ...any) error {
	return sandbox.NewFailure(sandbox.StageSelfCheck, fmt.Errorf(format, args...))
}

// seen is what speaks against a layer.
func seen(layer string, f facts, s scene) string {
	switch layer {
	case "landlock":
		return fmt.Sprintf("opening / gave %s, and an undeclared file %s", word(f.Root), word(f.Hidden))
	case "netns":
		if s.Host != "" && f.Host == "" {
			return "the host's loopback answers"
		}
		return "its namespace is the bridge's"
	case "pidns":
		return fmt.Sprintf("its namespace is the bridge's, process %d", f.PID)
	case "seccomp":
		return fmt.Sprintf("mode %d, %d filters", f.Seccomp, f.Filters)
	}
	return "not set"
}

func word(errno string) string {
	if errno == "" {
		return "no error"
	}
	return errno
}

// noSockets refuses a filter that leaves the agent no way to the proxy.
func noSockets(about About, l Launch, errno string) error {
	fix := "use a version in which the filter can be chosen"
	if about.Has(FieldSeccomp) {
		fix = "write seccomp: baseline"
	}
	name := l.Seccomp
	if name == "" {
		name = "its own"
	}
	return &sandbox.Refusal{Field: "Seccomp", Reason: fmt.Sprintf("the filter of %s (%s) leaves the agent no sockets of the internet (%s), and so no way to a proxy or server: %s", about, name, errno, fix)}
}

// denies tells an HTTP answer that lets nothing through.
func denies(statusLine string) bool {
	version, rest, _ := strings.Cut(statusLine, " ")
	return slices.Contains([]string{"HTTP/1.0", "HTTP/1.1"}, version) && len(rest) > 0 && (rest[0] == '4' || rest[0] == '5')
}
