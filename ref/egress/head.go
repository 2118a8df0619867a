package egress

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// form is the form of a request target (RFC 9112 section 3.2).
type form uint8

const (
	authorityForm form = iota
	absoluteForm
	originForm
)

// head is a request head that passed every check.
type head struct {
	method    string
	form      form
	authority Authority // of authority and absolute form
	path      string    // path and query, verbatim; of absolute and origin form
	host      string    // the Host field, "" for none
	http10    bool
	close     bool // the connection ends after this request
	expect    bool // 100-continue
	body      bool // some follows
	upgrade   bool // to websocket
}

// badRequest is a refusal for what the client sent, with the status it gets.
type badRequest struct {
	status int
	reason Reason
	detail string
}

func (e *badRequest) Error() string { return e.detail }

func malformed(format string, args ...any) *badRequest {
	return &badRequest{http.StatusBadRequest, ReasonMalformed, fmt.Sprintf(format, args...)}
}

func unsupported(status int, format string, args ...any) *badRequest {
	return &badRequest{status, ReasonUnsupported, fmt.Sprintf(format, args...)}
}

// parseHead checks a whole head, up to and with its empty line. The scanner has
// seen to line ends and control characters already, but nothing depends on it.
func parseHead(raw []byte) (*head, *badRequest) {
	lines, bad := splitLines(raw)
	if bad != nil {
		return nil, bad
	}
	h := &head{}
	target, bad := h.requestLine(lines[0])
	if bad != nil {
		return nil, bad
	}
	var f framing
	for _, line := range lines[1:] {
		if bad := f.field(line); bad != nil {
			return nil, bad
		}
	}
	if bad := f.check(h); bad != nil {
		return nil, bad
	}
	if bad := h.target(target); bad != nil {
		return nil, bad
	}
	return h, h.checkHost(f.hosts)
}

func splitLines(raw []byte) ([]string, *badRequest) {
	body, ok := bytes.CutSuffix(raw, []byte("\r\n\r\n"))
	if !ok {
		return nil, malformed("the head has no end")
	}
	for _, b := range body {
		if b < ' ' && b != '\t' && b != '\r' && b != '\n' || b == 0x7f {
			return nil, malformed("control character 0x%02x in the head", b)
		}
	}
	lines := strings.Split(string(body), "\r\n")
	for _, line := range lines {
		if i := strings.IndexAny(line, "\r\n"); i >= 0 {
			return nil, malformed("%s without its partner: lines end in CRLF", map[byte]string{'\r': "CR", '\n': "LF"}[line[i]])
		}
	}
	return lines, nil
}

// requestLine reads method SP request-target SP HTTP-version, single spaces.
func (h *head) requestLine(line string) (target string, bad *badRequest) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 || parts[1] == "" {
		return "", malformed("the request line %s is not METHOD TARGET HTTP/1.1 with single spaces", quoteTarget(line))
	}
	if !isToken(parts[0]) {
		return "", malformed("%s is not a method", quote(parts[0]))
	}
	h.method = parts[0]
	switch v := parts[2]; {
	case v == "HTTP/1.1":
	case v == "HTTP/1.0":
		h.http10, h.close = true, true
	case isVersion(v):
		return "", unsupported(http.StatusHTTPVersionNotSupported, "%s is not spoken here: use HTTP/1.1 (for HTTP/2, inside a CONNECT tunnel)", v)
	default:
		return "", malformed("%s is not an HTTP version", quote(v))
	}
	return parts[1], nil
}

// target reads the request target in the form that fits the method.
func (h *head) target(t string) *badRequest {
	for _, c := range []byte(t) {
		if c <= ' ' || c >= 0x7f {
			return malformed("%s holds a character outside visible ASCII: percent-encode it, or send the A-label of a name", quoteTarget(t))
		}
	}
	scheme, rest, hasScheme := strings.Cut(t, "://")
	switch {
	case h.method == http.MethodConnect:
		a, err := ParseAuthority(t)
		if err != nil {
			return malformed("CONNECT %s: %v", quoteTarget(t), err)
		}
		h.form, h.authority = authorityForm, a
		return nil
	case strings.Contains(t, "#"):
		return malformed("a fragment is not part of a request target: leave it out")
	case t[0] == '/':
		h.form, h.path = originForm, t
		return nil
	case t == "*":
		return malformed("the target * asks about the proxy itself, which has nothing to tell")
	case hasScheme && strings.EqualFold(scheme, "http"):
		return h.absolute(rest)
	case hasScheme:
		return malformed("scheme %s: only http is spoken in absolute form, use CONNECT for anything else", quote(scheme))
	}
	return malformed("target %s: use CONNECT host:port, or http:// and the rest", quoteTarget(t))
}

func (h *head) absolute(rest string) *badRequest {
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		i = len(rest)
	}
	authority, path := rest[:i], rest[i:]
	host, port, err := splitHostPort(authority)
	if err == nil {
		p := uint16(80) // RFC 9110 section 4.2.1
		if port != "" {
			p, err = ParsePort(port)
		}
		if err == nil {
			h.authority, err = parseHost(host, p)
		}
	}
	if err != nil {
		return malformed("authority %s: %v", quoteTarget(authority), err)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // RFC 9110 section 4.2.3: the empty path is "/"
	}
	h.form, h.path = absoluteForm, path
	// net/http would send such a path in other characters than it came in.
	if strings.HasPrefix(path, "//") && upstreamURL(h).RequestURI() != path {
		return malformed("the path %s holds a character that no path has: percent-encode it", quoteTarget(path))
	}
	return nil
}

// checkHost asks for exactly one Host in HTTP/1.1 (RFC 9112 section 3.2). In
// absolute form its value is ignored and replaced (section 3.2.2); for CONNECT
// nothing is forwarded that could replace it, so another name is an error.
func (h *head) checkHost(hosts []string) *badRequest {
	if len(hosts) > 1 {
		return malformed("%d Host fields: send one", len(hosts))
	}
	if len(hosts) == 0 {
		if h.http10 {
			return nil
		}
		return malformed("the Host field is missing: HTTP/1.1 requires it")
	}
	h.host = hosts[0]
	if h.host == "" && h.form != authorityForm {
		return nil // RFC 9112 section 3.2: empty where the target has no authority
	}
	host, port, err := splitHostPort(h.host)
	if err != nil {
		return malformed("Host %s: %v", quoteTarget(h.host), err)
	}
	p := h.authority.Port
	if port != "" {
		if p, err = ParsePort(port); err != nil {
			return malformed("Host %s: %v", quoteTarget(h.host), err)
		}
	}
	a, err := parseHost(host, p)
	if err != nil {
		return malformed("Host %s: %v", quoteTarget(h.host), err)
	}
	if h.form == authorityForm && a != h.authority {
		return malformed("Host %s is not the CONNECT target %s", quote(h.host), h.authority)
	}
	return nil
}

func isToken(s string) bool {
	for _, c := range []byte(s) {
		if !httpguts.IsTokenRune(rune(c)) {
			return false
		}
	}
	return s != ""
}

// isVersion is HTTP-version: "HTTP/" DIGIT "." DIGIT.
func isVersion(s string) bool {
	digits, ok := strings.CutPrefix(s, "HTTP/")
	if !ok || len(digits) != 3 || digits[1] != '.' {
		return false
	}
	_, err := strconv.ParseUint(digits[:1]+digits[2:], 10, 8)
	return err == nil
}
