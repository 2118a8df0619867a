package ref

import (
	"fmt"
	"slices"
	"strings"

	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

// lack is a field of the specification that this bridge cannot honour. It is
// refused, never ignored; [Describe] does not claim its capability.
type lack struct {
	capability string // empty where no word of the contract stands for it
	field      string // empty where no field asks for it
	asked      func(config.Spec) bool
	instead    string
}

var lacks = []lack{
	{"", "agent.mcp_config", func(s config.Spec) bool { return s.Agent != nil && s.Agent.MCPConfig != nil }, "write the file yourself from the ready event's doors"},
	{"", "servers.transports", anyServer(func(s config.Server) bool { return s.Listens() && slices.Contains(s.Transports, config.SSE) }), "use http: a server that speaks HTTP itself is passed on as it is"},
}

func anyServer(has func(config.Server) bool) func(config.Spec) bool {
	return func(s config.Spec) bool { return slices.ContainsFunc(s.Servers, has) }
}

// Unsupported is the error for a specification that is right and that this
// bridge cannot honour.
type Unsupported struct{ Fields []event.Unsupported }

func (u *Unsupported) Error() string {
	lines := make([]string, len(u.Fields))
	for i, f := range u.Fields {
		lines[i] = fmt.Sprintf("%s is not supported by this bridge: %s", f.Field, f.Reason)
	}
	return strings.Join(lines, "\n")
}

// unsupported returns all that is asked for and lacking.
func unsupported(spec config.Spec, lacks []lack) error {
	var found []event.Unsupported
	for _, l := range lacks {
		if l.asked(spec) {
			found = append(found, event.Unsupported{Field: l.field, Reason: l.instead})
		}
	}
	if found == nil {
		return nil
	}
	return &Unsupported{Fields: found}
}
