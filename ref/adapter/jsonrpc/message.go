package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Kind is what a message is.
type Kind int

// The three kinds of message.
const (
	Request Kind = iota + 1
	Notification
	Response
)

// Message is one JSON-RPC message.
type Message struct {
	Raw    []byte
	Kind   Kind
	Method string // empty for a response
	ID     Span   // absent in a notification
	Params Span
	// Result and Error belong to a response; one of them is present.
	Result Span
	Error  Span
}

// Parse reads one message. It returns [ErrNotJSON] or [ErrInvalid]; a batch is
// not a message, see [Elements]. The message keeps raw.
func Parse(raw []byte) (Message, error) {
	if !json.Valid(raw) {
		return Message{}, ErrNotJSON
	}
	m := Message{Raw: raw}
	var method Span
	fields := [...]struct {
		name string
		to   *Span
	}{{"id", &m.ID}, {"method", &method}, {"params", &m.Params}, {"result", &m.Result}, {"error", &m.Error}}
	var err error
	members(raw, Span{0, len(raw)}, func(key []byte, v Span) bool {
		for _, f := range fields {
			if keyIs(key, f.name) {
				err = set(f.to, v, f.name)
			}
		}
		return err == nil
	})
	if err != nil {
		return Message{}, err
	}
	if m.ID.Present() && !validID(m.ID.Of(raw), !method.Present()) {
		return Message{}, fmt.Errorf("%w: an id is a string or a number", ErrInvalid)
	}
	return m.classify(method)
}

// set refuses a member that stands twice: two readers may then see two messages.
func set(to *Span, v Span, name string) error {
	if to.Present() {
		return fmt.Errorf("%w: %q stands twice", ErrInvalid, name)
	}
	*to = v
	return nil
}

func (m Message) classify(method Span) (Message, error) {
	if method.Present() {
		name, ok := Text(method.Of(m.Raw))
		if !ok {
			return Message{}, fmt.Errorf("%w: method is not a string", ErrInvalid)
		}
		m.Method, m.Kind = name, Notification
		if m.ID.Present() {
			m.Kind = Request
		}
		return m, nil
	}
	if m.ID.Present() && m.Result.Present() != m.Error.Present() {
		m.Kind = Response
		return m, nil
	}
	return Message{}, fmt.Errorf("%w: neither a method nor an id with a result or an error", ErrInvalid)
}

// validID allows null only where a server answers what it could not read.
func validID(id []byte, response bool) bool {
	switch c := id[0]; {
	case c == '"', c == '-', c >= '0' && c <= '9':
		return true
	default:
		return response && string(id) == "null"
	}
}

// Key makes ids comparable: 1 and "1" are two ids, "a" and "a" one.
func (m Message) Key() string { return Key(m.ID.Of(m.Raw)) }

// Key is the comparable form of an id or a progress token.
func Key(token []byte) string {
	if s, ok := Text(token); ok {
		return "s" + s
	}
	return "n" + string(token)
}

// Lookup finds a member below params, by the names that lead to it. A name that
// stands twice counts as absent.
func (m Message) Lookup(path ...string) Span { return m.below(m.Params, path) }

// LookupResult finds a member below result.
func (m Message) LookupResult(path ...string) Span { return m.below(m.Result, path) }

func (m Message) below(at Span, path []string) Span {
	for _, key := range path {
		var err error
		if at, err = Lookup(m.Raw, at, key); err != nil || !at.Present() {
			return Span{}
		}
	}
	return at
}

// ErrorCode returns the code of an error response, 0 for any other message.
func (m Message) ErrorCode() int {
	at := m.below(m.Error, []string{"code"})
	var code int
	if at.Present() {
		_ = json.Unmarshal(at.Of(m.Raw), &code) // what is no integer is no code we know
	}
	return code
}

// Edit replaces the bytes that At marks.
type Edit struct {
	At Span
	By []byte
}

// Splice returns a copy of raw with the edits made. Absent spans are left out;
// the others must not overlap.
func Splice(raw []byte, edits ...Edit) []byte {
	edits = slices.DeleteFunc(edits, func(e Edit) bool { return !e.At.Present() })
	slices.SortFunc(edits, func(a, b Edit) int { return a.At.Start - b.At.Start })
	out := make([]byte, 0, len(raw)+32*len(edits))
	from := 0
	for _, e := range edits {
		out = append(append(out, raw[from:e.At.Start]...), e.By...)
		from = e.At.End
	}
	return append(out, raw[from:]...)
}

// OneLine returns raw with line breaks between tokens turned into blanks: stdio
// forbids newlines in a message, an SSE event ends at a carriage return.
// Valid JSON has no raw line break inside a token.
func OneLine(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	out := bytes.Clone(raw)
	for i, c := range out {
		if c == '\n' || c == '\r' {
			out[i] = ' '
		}
	}
	return out
}

// NewError makes an error response. id is a raw token; none means null.
func NewError(id []byte, code int, message string, data any) []byte {
	type object struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	if len(id) == 0 {
		id = []byte("null")
	}
	body, err := json.Marshal(object{code, message, data})
	if err != nil { // data that cannot be encoded is a mistake of the caller's
		return NewError(id, code, message, nil)
	}
	// Not by encoding/json: it would escape characters of the id.
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(out, `,"error":`...), body...), '}')
}
