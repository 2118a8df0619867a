package egress

import (
	"net/http"
	"strconv"
	"strings"
)

// framing gathers the fields that decide where a request ends and what it is.
type framing struct {
	hosts    []string
	lengths  []string
	codings  []string
	conn     []string // tokens of Connection
	upgrades []string
	expects  []string
	hops     string // Max-Forwards
}

// field checks one field line: field-name ":" OWS field-value OWS, no space
// before the colon (RFC 9112 section 5.1), no folding (section 5.2).
func (f *framing) field(line string) *badRequest {
	if line == "" {
		return malformed("an empty line within the head")
	}
	if line[0] == ' ' || line[0] == '\t' {
		return malformed("a folded field line: put the value on one line")
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return malformed("the field line %s has no colon", quote(line))
	}
	if !isToken(name) {
		if strings.TrimRight(name, " \t") != name {
			return malformed("space between the field name %s and its colon", quote(name))
		}
		return malformed("%s is not a field name", quote(name))
	}
	value = strings.Trim(value, " \t")
	switch strings.ToLower(name) {
	case "host":
		f.hosts = append(f.hosts, value)
	case "content-length":
		f.lengths = append(f.lengths, value)
	case "transfer-encoding":
		f.codings = append(f.codings, value)
	case "connection", "proxy-connection":
		// Proxy-Connection is no standard; some clients send nothing else.
		f.conn = append(f.conn, tokens(value)...)
	case "upgrade":
		f.upgrades = append(f.upgrades, tokens(value)...)
	case "max-forwards":
		f.hops = value
	case "expect":
		f.expects = append(f.expects, strings.ToLower(value))
	}
	return nil
}

// check settles the length of the body (RFC 9112 section 6.3) and what the
// Connection field asks for. What two recipients could read in two ways is
// refused.
func (f *framing) check(h *head) *badRequest {
	if len(f.codings) > 0 {
		switch {
		case len(f.lengths) > 0:
			return malformed("Content-Length together with Transfer-Encoding: send one")
		case h.http10:
			return malformed("Transfer-Encoding in HTTP/1.0")
		case len(f.codings) > 1 || !strings.EqualFold(f.codings[0], "chunked"):
			return unsupported(http.StatusNotImplemented, "transfer coding %s: only chunked is understood", quote(strings.Join(f.codings, ", ")))
		}
	}
	if len(f.lengths) > 1 {
		return malformed("%d Content-Length fields: send one", len(f.lengths))
	}
	var length uint64
	if len(f.lengths) == 1 {
		var err error
		if length, err = strconv.ParseUint(f.lengths[0], 10, 63); err != nil {
			return malformed("Content-Length %s is not a number", quote(f.lengths[0]))
		}
	}
	h.body = length > 0 || len(f.codings) > 0
	if h.method == http.MethodConnect && h.body {
		return malformed("a CONNECT request has no body: send the data after the answer")
	}
	for _, e := range f.expects {
		if e != "100-continue" {
			return unsupported(http.StatusExpectationFailed, "expectation %s: only 100-continue is understood", quote(e))
		}
		h.expect = !h.http10 && h.body
	}
	if f.hops == "0" && (h.method == http.MethodOptions || h.method == http.MethodTrace) {
		return unsupported(http.StatusNotImplemented, "%s ends here by its Max-Forwards: the proxy has nothing to tell about itself", h.method)
	}
	asked := false
	for _, t := range f.conn {
		h.close = h.close || t == "close"
		asked = asked || t == "upgrade"
	}
	for _, u := range f.upgrades {
		h.upgrade = h.upgrade || asked && !h.http10 && u == "websocket"
	}
	return nil
}

func tokens(value string) []string {
	var list []string
	for t := range strings.SplitSeq(value, ",") {
		if t = strings.Trim(t, " \t"); t != "" {
			list = append(list, strings.ToLower(t))
		}
	}
	return list
}
