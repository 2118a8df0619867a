package external

import (
	"fmt"
	"slices"
	"strings"

	"bridgecheck/ref/sandbox"
)

// refuse names the first field that the backend, or any, does not honour.
func refuse(about About, s *Spec) error {
	no := func(field, fix string) error {
		return &sandbox.Refusal{Field: field, Reason: fmt.Sprintf("%s cannot do this: %s", about, fix)}
	}
	lacks := func(asked bool, f Field) bool { return asked && !about.Has(f) }
	switch {
	case s.TTY:
		return no("TTY", "leave it out")
	case len(s.Descriptors) > 0:
		return no("Descriptors", "declare none")
	case len(s.Sockets) > 0:
		return no("Sockets", "declare the socket's directory in paths")
	case slices.ContainsFunc(s.Ports, func(p uint16) bool { return p != ProxyPort }), len(s.Ports) > 1:
		return no("Ports", fmt.Sprintf("it has port %d alone", ProxyPort))
	case len(s.Ports) > 0 && s.Level != sandbox.Isolated && s.Level != "":
		return no("Ports", "it has one in a network of its own alone")
	case lacks(s.Level == sandbox.Isolated || s.Level == "", FieldOwnNetwork):
		return no("Level", "share the network")
	case len(s.Ports) > 0 && !about.Has(FieldProxySocket) && !about.Has(FieldAllowedHosts):
		return no("Ports", "it leads no port out of the sandbox")
	case s.Seccomp == sandbox.Off:
		return no("Seccomp", "its filter cannot be left out")
	case lacks(s.Seccomp != "", FieldSeccomp):
		return no("Seccomp", "leave it out, its filter is its own")
	case lacks(s.Limits.Memory > 0, FieldMemory), lacks(s.Limits.PIDs > 0, FieldPIDs), lacks(s.Limits.Files > 0, FieldFiles):
		return no("Limits", "leave it out")
	case strings.Contains(s.Dir, ":"):
		return &sandbox.Refusal{Field: "Dir", Reason: fmt.Sprintf("%q holds a colon, which no socket's path may here: choose another directory", s.Dir)}
	}
	return nil
}
