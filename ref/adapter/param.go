package adapter

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"

	"bridgecheck/ref/adapter/jsonrpc"
)

// headerParam is the first part of a header that repeats an argument of a tool.
const headerParam = "Mcp-Param-"

// mirrors knows which arguments of which tools must be repeated in headers. It
// learns them from the answers to tools/list that pass through.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
type mirrors struct {
	mu    sync.Mutex
	tools map[string][]mirror
}

// mirror is one argument that a header repeats.
type mirror struct {
	path   []string // of the argument, below params.arguments
	header string
}

// schema is what is read of a tool's inputSchema.
type schema struct {
	Header     string            `json:"x-mcp-header"`
	Properties map[string]schema `json:"properties"`
}

// learn reads an answer to tools/list. A tool whose schema is odd has no headers.
func (m *mirrors) learn(answer jsonrpc.Message) {
	if !bytes.Contains(answer.Raw, []byte(`"x-mcp-header"`)) && !m.known() {
		return
	}
	var list []struct {
		Name  string          `json:"name"`
		Input json.RawMessage `json:"inputSchema"`
	}
	at := answer.LookupResult("tools")
	if !at.Present() || json.Unmarshal(at.Of(answer.Raw), &list) != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tools == nil {
		m.tools = map[string][]mirror{}
	}
	for _, tool := range list {
		var s schema
		delete(m.tools, tool.Name)
		if json.Unmarshal(tool.Input, &s) == nil {
			if found := s.mirrors(nil); len(found) > 0 {
				m.tools[tool.Name] = found
			}
		}
	}
}

func (m *mirrors) known() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.tools) > 0
}

func (s schema) mirrors(path []string) (out []mirror) {
	for name, p := range s.Properties {
		at := slices.Concat(path, []string{name})
		if p.Header != "" {
			out = append(out, mirror{at, headerParam + p.Header})
		}
		out = append(out, p.mirrors(at)...)
	}
	return out
}

// check compares the headers of a tools/call with its arguments.
func (m *mirrors) check(h http.Header, call jsonrpc.Message) *rejection {
	if call.Method != "tools/call" || call.Kind != jsonrpc.Request {
		return nil
	}
	name, _ := jsonrpc.Text(call.Lookup("name").Of(call.Raw))
	m.mu.Lock()
	wanted := m.tools[name]
	m.mu.Unlock()
	for _, w := range wanted {
		value := call.Lookup(append([]string{"arguments"}, w.path...)...).Of(call.Raw)
		given := h.Values(w.header)
		switch {
		case len(value) == 0 || string(value) == "null":
			if len(given) > 0 {
				return mismatch("%s is given, the argument %s is not", w.header, strings.Join(w.path, "."))
			}
		case len(given) != 1:
			return mismatch("%s is required for the argument %s", w.header, strings.Join(w.path, "."))
		default:
			if got, ok := decodeHeader(given[0]); !ok || !sameValue(got, value) {
				return mismatch("%s is %q, the argument %s is %s", w.header, given[0], strings.Join(w.path, "."), value)
			}
		}
	}
	return nil
}

// sameValue compares a header with a JSON string, boolean or integer.
func sameValue(header string, value []byte) bool {
	if s, ok := jsonrpc.Text(value); ok {
		return header == s
	}
	if string(value) == "true" || string(value) == "false" {
		return header == string(value)
	}
	if len(header) > maxDigits || len(value) > maxDigits || strings.ContainsAny(header+string(value), "eE/_xX") {
		return false
	}
	a, ok := new(big.Rat).SetString(header)
	b, ok2 := new(big.Rat).SetString(string(value))
	return ok && ok2 && a.IsInt() && a.Cmp(b) == 0
}

// maxDigits bounds a number that is compared; the specification allows integers
// up to 2^53.
const maxDigits = 32
