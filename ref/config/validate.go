package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"bridgecheck/ref/egress"
)

// Validate checks a Spec that a program made. The error is an [*Error] whose
// problems have no file and no line.
func (s Spec) Validate() error {
	names := make([]string, len(s.Servers))
	for i := range names {
		names[i] = fmt.Sprintf("servers[%d]", i)
	}
	return (&decoder{}).finish(s, names)
}

// validator checks what types cannot say. servers are the fields the servers
// stand in, which differ between the two formats.
type validator struct {
	*decoder
	spec    Spec
	servers []string
	decoded int // so many problems are older than the validation
}

// at reports a problem of a field, at its line or at that of what holds it. A
// field that could not be read has its zero value: that is no second problem.
func (v *validator) at(field, message, fix string) {
	if slices.Contains(v.mistyped, field) || slices.ContainsFunc(v.problems[:v.decoded], func(p Problem) bool {
		return p.Field == field || strings.HasPrefix(p.Field, field+".")
	}) {
		return
	}
	v.problem(v.line(field), field, message, fix)
}

func (d *decoder) line(field string) int {
	for {
		if line, ok := d.lines[field]; ok {
			return line
		}
		cut := strings.LastIndexAny(field, ".[")
		if cut < 0 {
			return min(1, len(d.file))
		}
		field = field[:cut]
	}
}

// sorted puts the problems into the order of the file.
func (d *decoder) sorted() []Problem {
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return d.problems
}

func (v *validator) all() {
	for i, s := range v.spec.Servers {
		before := len(v.problems)
		v.server(v.servers[i], s)
		for j := range v.problems[before:] {
			v.problems[before+j].Server = s.Name
		}
	}
	v.rules("allow", v.spec.Allow)
	for i, r := range v.spec.Deny {
		if v.credentials(fmt.Sprintf("deny[%d]", i), r) {
			continue
		}
		if _, err := egress.ParseDenyRule(r.Host, r.Port); err != nil {
			v.at(fmt.Sprintf("deny[%d]", i), err.Error(), "")
		}
		if len(r.Addresses) > 0 {
			v.at(fmt.Sprintf("deny[%d].addresses", i), "a deny rule opens no addresses", "remove addresses")
		}
	}
	v.identities()
	v.ports()
	v.routes()
	v.options()
	v.agent()
	v.paths()
	v.texts()
	v.amounts()
	v.descriptors()
}

// rules hands each rule to the code that will judge with it: what it cannot
// read, or what could never match, is refused here (RFC 9110 4.2.3 and 7.2
// leave only host and port in an authority).
func (v *validator) rules(field string, rules []Rule) {
	for i, r := range rules {
		if v.credentials(fmt.Sprintf("%s[%d]", field, i), r) {
			continue
		}
		if _, err := egress.ParseRule(r.Host, r.Port, r.Addresses); err != nil {
			v.at(fmt.Sprintf("%s[%d]", field, i), err.Error(), "")
		}
	}
}

// credentials finds a user and a password, which must not be shown as the rest of
// a wrong rule is.
func (v *validator) credentials(field string, r Rule) bool {
	if !strings.Contains(r.Host, "@") {
		return false
	}
	v.at(field+".host", "a rule has no user and no password", "write the host alone")
	return true
}

func (v *validator) word(field, value string, words ...string) {
	if value != "" && !slices.Contains(words, value) {
		v.at(field, fmt.Sprintf("%q is no %s", value, field[strings.LastIndexByte(field, '.')+1:]), "write one of "+strings.Join(words, ", "))
	}
}

func (v *validator) words(field string, values []string, words ...string) {
	for i, value := range values {
		if !slices.Contains(words, value) {
			v.at(fmt.Sprintf("%s[%d]", field, i), fmt.Sprintf("%q is unknown here", value), "write one of "+strings.Join(words, ", "))
		}
	}
}

func (v *validator) options() {
	s := v.spec
	v.word("network", s.Network, networks...)
	v.word("policy", s.Policy, policies...)
	v.word("seccomp", s.Seccomp, profiles...)
	if s.Network == "isolated" && s.Policy == "off" {
		v.at("policy", "off never isolates, and network asks for isolated", "write require or prefer, or network: shared")
	}
	if s.Proxy != nil {
		v.word("proxy.mode", s.Proxy.Mode, switches...)
		if status := s.Proxy.RefuseStatus; status != 0 && status != 502 && status != 403 {
			v.at("proxy.refuse_status", fmt.Sprintf("%d is not offered", status), "write 502 or 403")
		}
	}
	v.model()
	if s.Resolver != "" {
		if addr, err := netip.ParseAddrPort(s.Resolver); err != nil || addr.Port() == 0 {
			v.at("resolver", fmt.Sprintf("%q is no address and port", s.Resolver), "write it as 192.0.2.53:53 or [2001:db8::53]:53")
		}
	}
}

func (v *validator) model() {
	m := v.spec.Model
	if m == nil {
		return
	}
	if !isHTTP(m.URL) {
		v.at("model.url", "not an http or https URL", "write https://HOST/PATH")
	} else if u, err := url.Parse(m.URL); err != nil || u.User != nil || u.RawQuery != "" {
		v.at("model.url", "holds more than host and path", "put the key into model.credential")
	}
	if strings.ContainsFunc(m.Credential, func(r rune) bool { return r <= ' ' || r > '~' }) {
		v.at("model.credential", "holds what no field of a request can carry", "remove blanks and line breaks")
	}
}

func (v *validator) agent() {
	a := v.spec.Agent
	if a == nil {
		return
	}
	if a.Path == "" {
		v.at("agent.path", "no program is named", "give the path of the agent, or leave agent out")
	}
	if a.Cwd != "" && !filepath.IsAbs(a.Cwd) {
		v.at("agent.cwd", "not an absolute path", "begin it with /")
	}
	v.words("agent.transports", a.Transports, "http", "sse", "stdio", "unix")
	v.environment("agent.env", a.Env)
	if c := a.MCPConfig; c != nil && (c.Format == "" || !filepath.IsAbs(c.Path)) {
		v.at("agent.mcp_config", "format or absolute path is missing", "give both")
	}
}

func (v *validator) paths() {
	p := v.spec.Paths
	if p == nil {
		return
	}
	absolute := func(field, path string) {
		if !filepath.IsAbs(path) {
			v.at(field, fmt.Sprintf("%q is not an absolute path", path), "begin it with /")
		}
	}
	for i, path := range p.RO {
		absolute(fmt.Sprintf("paths.ro[%d]", i), path)
	}
	for i, path := range p.RW {
		absolute(fmt.Sprintf("paths.rw[%d]", i), path)
	}
	if p.Runtime != "" {
		absolute("paths.runtime", p.Runtime)
	}
}
