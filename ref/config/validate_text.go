package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// sunPathMax is the room for a path in sockaddr_un, without the final zero
// byte; unix(7).
const sunPathMax = 107

// texts refuses what can never be passed on: execve(2) and connect(2) end a
// string at its first NUL byte, a socket's path has a fixed room, and a line
// break in a header field would begin another.
func (v *validator) texts() {
	for i, s := range v.spec.Servers {
		v.args(v.servers[i]+".args", s.Args)
	}
	if a := v.spec.Agent; a != nil {
		v.args("agent.args", a.Args)
		if strings.ContainsRune(a.Path, 0) {
			v.at("agent.path", "the path holds a NUL byte", "remove it")
		}
	}
	for i, r := range v.spec.Relays {
		field := fmt.Sprintf("relays[%d].unix_socket", i)
		switch {
		case strings.ContainsRune(r.UnixSocket, 0):
			v.at(field, "the path holds a NUL byte", "remove it")
		case len(r.UnixSocket) > sunPathMax:
			v.at(field, fmt.Sprintf("the path has %d bytes, and a socket's at most %d", len(r.UnixSocket), sunPathMax), "move the socket to a shorter one")
		}
	}
	for i, r := range v.spec.Routes {
		field := fmt.Sprintf("routes[%d].headers", i)
		for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
			switch {
			case !httpguts.ValidHeaderFieldName(name):
				v.at(field, fmt.Sprintf("%q is no name of a header field", name), "use letters, digits and dashes")
			case !httpguts.ValidHeaderFieldValue(r.Headers[name]): // it may be a secret, and is not shown
				v.at(field+"."+name, "the value holds a line break or a control character", "remove it")
			}
		}
	}
}

func (v *validator) args(field string, args []string) {
	for i, arg := range args {
		if strings.ContainsRune(arg, 0) {
			v.at(fmt.Sprintf("%s[%d]", field, i), "the argument holds a NUL byte", "remove it")
		}
	}
}
