package config

import (
	"fmt"
	"path"
	"strings"

	"bridgecheck/ref/egress"
)

// EnvName is the part of a variable's name that stands for a server: upper
// case, everything but letters and digits as an underscore.
func EnvName(server string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, server)
}

// owners finds values that two owners claim.
type owners map[string]owner

type owner struct{ title, field string }

// claim reports false and the first owner when the value is taken.
func (o owners) claim(value string, by owner) (owner, bool) {
	first, taken := o[value]
	if !taken {
		o[value] = by
	}
	return first, !taken
}

func (v *validator) twice(field, what string, first owner, fix string) {
	v.at(field, fmt.Sprintf("%s is taken by %s%s", what, first.title, v.inLine(first.field)), fix)
}

func (v *validator) inLine(field string) string {
	if line := v.line(field); line > 0 {
		return fmt.Sprintf(" in line %d", line)
	}
	return ""
}

// identities: no two servers may share a name, a variable or an authority.
func (v *validator) identities() {
	variables, authorities := owners{}, owners{}
	for i, s := range v.spec.Servers {
		field := v.servers[i]
		me := owner{fmt.Sprintf("server %q", s.Name), field}
		if first, ok := variables.claim(EnvName(s.Name), me); !ok {
			v.twice(field+".name", fmt.Sprintf("the name %q, as %s in the agent's variables,", s.Name, EnvName(s.Name)), first, "rename one of them")
			continue
		}
		for j, name := range s.Authorities() {
			a, err := egress.ParseAuthority(name)
			if err != nil {
				continue // reported with the server
			}
			at := fmt.Sprintf("%s.names[%d]", field, j)
			if first, ok := authorities.claim(a.String(), owner{me.title, at}); !ok {
				v.twice(at, a.String(), first, "give each server its own names")
			}
		}
	}
}

// ports: each loopback port of the sandbox has one owner.
func (v *validator) ports() {
	taken := owners{}
	if v.spec.ProxyOn() {
		taken.claim(fmt.Sprint(ProxyPort), owner{title: "the egress proxy"})
	}
	claim := func(port int, field, title string) {
		if first, ok := taken.claim(fmt.Sprint(port), owner{title, field}); !ok {
			v.at(field, fmt.Sprintf("port %d is wanted by %s and by %s%s", port, title, first.title, v.ownerLine(first)), "give one of them another port")
		}
	}
	for i, s := range v.spec.Servers {
		field := v.servers[i] + ".port"
		switch {
		case s.Port < 0 || s.Port > 65535:
			v.at(field, fmt.Sprintf("%d is no port", s.Port), "give 1 to 65535, or leave it out to have one chosen")
		case s.Port > 0:
			claim(s.Port, field, fmt.Sprintf("server %q", s.Name))
		}
	}
	for i, r := range v.spec.Relays {
		field := fmt.Sprintf("relays[%d]", i)
		if !path.IsAbs(r.UnixSocket) {
			v.at(field+".unix_socket", fmt.Sprintf("%q is not an absolute path", r.UnixSocket), "begin it with /")
		}
		if r.Port < 1 || r.Port > 65535 {
			v.at(field+".port", fmt.Sprintf("%d is no port", r.Port), "give 1 to 65535")
			continue
		}
		claim(r.Port, field+".port", fmt.Sprintf("the relay to %s", r.UnixSocket))
	}
}

func (v *validator) ownerLine(o owner) string {
	if o.field == "" {
		return ""
	}
	return v.inLine(o.field)
}

func (v *validator) routes() {
	bridged := map[string]bool{}
	for _, s := range v.spec.Servers {
		bridged[s.Name] = s.OnHost()
	}
	prefixes := owners{}
	if v.spec.Model != nil {
		prefixes.claim("/", owner{"the model, which gets every path that is left", "model"})
	}
	for i, r := range v.spec.Routes {
		field := fmt.Sprintf("routes[%d]", i)
		if !strings.HasPrefix(r.Prefix, "/") || path.Clean(r.Prefix) != strings.TrimSuffix(r.Prefix, "/") && r.Prefix != "/" {
			v.at(field+".prefix", fmt.Sprintf("%q is no clean path", r.Prefix), "begin it with / and leave out //, . and ..")
		}
		if first, ok := prefixes.claim(r.Prefix, owner{"another route", field}); !ok {
			v.twice(field+".prefix", r.Prefix, first, "remove one of them")
		}
		switch {
		case (r.Server == "") == (r.URL == ""):
			v.at(field, "a route leads to a server or to a URL", "give exactly one of server and url")
		case r.Server != "" && !bridged[r.Server]:
			v.at(field+".server", fmt.Sprintf("there is no server %q on the host", r.Server), "name one with placement: host")
		case r.URL != "" && !isHTTP(r.URL):
			v.at(field+".url", "not an http or https URL", "write https://HOST/PATH")
		}
	}
}
