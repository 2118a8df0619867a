package egress

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refusal is the body of every answer that is the proxy's own.
type refusal struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
	Host    string `json:"host,omitempty"`
	Port    uint16 `json:"port,omitempty"`
	// Rule is the rule that decided, Rules the first of those in force.
	Rule       string   `json:"rule,omitempty"`
	Rules      []string `json:"rules"`
	RulesTotal int      `json:"rules_total"`
	// Allow says how to allow the request, where that can be.
	Allow string `json:"allow,omitempty"`
}

// shownRules is how many rules a refusal lists.
const shownRules = 16

// answer is a refusal ready to be sent.
type answer struct {
	status int
	phrase string // reason phrase: all that most clients show of a CONNECT
	header http.Header
	body   []byte
}

// answer makes the refusal of a decision. A status of 0 is the reason's own.
func (p *Proxy) answer(d Decision, status int) answer {
	if status == 0 {
		status = answers[d.Reason].status
	}
	message := d.message()
	var rules []string
	if p.cfg.Policy != nil {
		rules = p.cfg.Policy.allow.texts
	}
	body, _ := json.Marshal(refusal{ // strings and numbers always encode
		Reason: d.Reason, Message: message,
		Host: d.Authority.Host(), Port: d.Authority.Port, Rule: d.Rule,
		Rules: append([]string{}, rules[:min(len(rules), shownRules)]...), RulesTotal: len(rules),
		Allow: d.howToAllow(),
	})
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Proxy-Status", p.proxyStatus(d.Reason, message))
	return answer{status, phrase(message), h, append(body, '\n')}
}

// proxyStatus is a field of RFC 9209: sf-token, then parameters.
func (p *Proxy) proxyStatus(r Reason, message string) string {
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(message))
	return fmt.Sprintf(`%s; error=%s; details="%s"`, p.cfg.Name, answers[r].error, text)
}

// message is one sentence for people: what was refused, and why.
func (d Decision) message() string {
	target := d.Target()
	if len(target) > 100 {
		target = target[:100] + "..." // the reason behind it has to be seen too
	}
	switch d.Reason {
	case ReasonRefused:
		if d.Authority.isLoopback() {
			return target + " is loopback and no declared port: refused"
		}
		return target + " is not on the allow list"
	case ReasonDenied:
		return target + " is denied by rule " + d.Rule
	case ReasonProhibited:
		return target + " refused: " + d.Detail
	}
	if d.Detail == "" {
		return string(d.Reason)
	}
	return d.Detail
}

func (d Decision) howToAllow() string {
	host := strconv.Quote(d.Authority.Host())
	switch {
	case d.Reason == ReasonRefused && d.Authority.isLoopback():
		return "declare the port of the MCP server; nothing else on loopback is reached through the proxy"
	case d.Reason == ReasonRefused && d.Authority != Authority{}:
		return fmt.Sprintf("add the rule {host: %s, port: %d}", host, d.Authority.Port)
	case d.Reason == ReasonDenied:
		return "remove the deny rule " + d.Rule
	case d.Reason == ReasonProhibited:
		return fmt.Sprintf("if the address is meant, add its range to the rule: {host: %s, port: %d, addresses: [...]}", host, d.Authority.Port)
	}
	return ""
}

// phrase is text fit for a status line: printable ASCII of a bounded length.
func phrase(s string) string {
	s = printable(s)
	if len(s) > 200 {
		s = s[:200]
	}
	return s
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
