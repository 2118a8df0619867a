package probe

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"bridgecheck/fakes/attempt"
)

// harmless tells whether an attempt neither dials, listens, changes nor signals.
func harmless(a attempt.Attempt) bool {
	switch a.Op {
	case attempt.OpFacts, attempt.OpReadFile, attempt.OpListDir,
		attempt.OpStdin, attempt.OpWrite, attempt.OpExit, attempt.OpIgnore,
		attempt.OpClose, attempt.OpCloseWrite:
		return true
	case attempt.OpOpen:
		return len(a.Args) == 0 || (len(a.Args) == 1 && a.Args[0] == "r")
	}
	return false
}

// hostGuard says why nothing may be touched here, or "" when the probe stands
// in a namespace of its own. Asked anew each time: the answer is not cached, so
// that no way of entering another namespace escapes it.
func hostGuard(order attempt.Order) string {
	if order.HostNetNS == 0 {
		return "the order names no host network namespace"
	}
	own, err := namespace("net")
	if err != nil {
		return fmt.Sprintf("own network namespace cannot be told: %v", err)
	}
	if own == order.HostNetNS {
		return fmt.Sprintf("this is the host's own network namespace (net:[%d])", own)
	}
	return ""
}

// namespace reads the inode number of one of the caller's namespaces
// (namespaces(7)).
func namespace(name string) (uint64, error) {
	link, err := os.Readlink("/proc/self/ns/" + name)
	if err != nil {
		return 0, err
	}
	_, number, found := strings.Cut(strings.TrimSuffix(link, "]"), ":[")
	if !found {
		return 0, fmt.Errorf("%q is no namespace link", link)
	}
	return strconv.ParseUint(number, 10, 64)
}
