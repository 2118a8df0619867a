package adapter

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"bridgecheck/ref/adapter/jsonrpc"
)

// The headers of streamable HTTP.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// metaVersion is where a stateless request names its protocol version.
const metaVersion = "io.modelcontextprotocol/protocolVersion"

// firstStateless is the revision that dropped sessions. Versions are dates and
// compare as strings.
const firstStateless = "2026-07-28"

// How a client begins: in the older era, and in the newer.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
)

// sessionVersions are the revisions with sessions.
var sessionVersions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

func isStateless(version string) bool {
	_, err := time.Parse(time.DateOnly, version)
	return err == nil && version >= firstStateless
}

// wantsStateless tells the era of a request: only stateless ones carry their
// version in _meta. A version nobody knows is refused as the newer era does,
// unless the request belongs to a session.
func wantsStateless(h http.Header, m jsonrpc.Message) bool {
	version := h.Get(headerVersion)
	return m.Lookup("_meta", metaVersion).Present() || isStateless(version) ||
		version != "" && h.Get(headerSession) == "" && !slices.Contains(sessionVersions, version)
}

// rejection is why a stateless request is answered 400.
type rejection struct {
	code int
	text string
	data any
}

// checkHeaders compares the headers of a stateless request with its body.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
func checkHeaders(h http.Header, m jsonrpc.Message, versions []string) *rejection {
	header := h.Get(headerVersion)
	meta, _ := jsonrpc.Text(m.Lookup("_meta", metaVersion).Of(m.Raw))
	switch {
	case header == "":
		return mismatch("%s is required", headerVersion)
	case meta == "" && m.Kind == jsonrpc.Request:
		return &rejection{code: jsonrpc.CodeInvalidParams, text: "params._meta has no " + metaVersion}
	case meta != "" && meta != header:
		return mismatch("%s is %q, the body has %q", headerVersion, header, meta)
	case !slices.Contains(versions, header):
		return &rejection{
			jsonrpc.CodeUnsupportedVersion, "unsupported protocol version",
			map[string]any{"supported": versions, "requested": header},
		}
	case h.Get(headerMethod) != m.Method:
		return mismatch("%s is %q, the body has %q", headerMethod, h.Get(headerMethod), m.Method)
	}
	return checkName(h, m)
}

// checkName compares Mcp-Name with what the request names.
func checkName(h http.Header, m jsonrpc.Message) *rejection {
	member, ok := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[m.Method]
	if !ok || m.Kind != jsonrpc.Request {
		return nil
	}
	want, found := jsonrpc.Text(m.Lookup(member).Of(m.Raw))
	if !found {
		return nil // the server says what it misses
	}
	if got, ok := decodeHeader(h.Get(headerName)); !ok || got != want {
		return mismatch("%s is %q, params.%s is %q", headerName, h.Get(headerName), member, want)
	}
	return nil
}

// decodeHeader undoes the encoding of values that are no plain header text.
func decodeHeader(v string) (string, bool) {
	inner, ok := strings.CutPrefix(v, "=?base64?")
	if !ok || !strings.HasSuffix(inner, "?=") {
		return v, true
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(inner, "?="))
	return string(raw), err == nil
}

func mismatch(format string, args ...any) *rejection {
	return &rejection{code: jsonrpc.CodeHeaderMismatch, text: "header mismatch: " + fmt.Sprintf(format, args...)}
}

// accepts tells whether the client takes both kinds of answer.
func accepts(h http.Header) bool {
	all := strings.ToLower(strings.Join(h.Values("Accept"), ","))
	if all == "" {
		return true
	}
	takes := func(kind, any string) bool {
		return strings.Contains(all, kind) || strings.Contains(all, any) || strings.Contains(all, "*/*")
	}
	return takes("application/json", "application/*") && takes("text/event-stream", "text/*")
}
