package stdio

import "bridgecheck/ref/adapter/jsonrpc"

// keptBytes bounds a token of a message that is too long to be kept.
const keptBytes = 1 << 10

// outline reads id and method of a message that is thrown away, so that the
// peer that waits for it can be told. It follows the structure of JSON and
// keeps only the tokens of the outermost object.
type outline struct {
	id, method []byte

	depth    int
	inString bool
	escaped  bool
	token    []byte // the current token of the outermost object
	key      []byte
	isValue  bool
}

func (o *outline) feed(part []byte) {
	for _, c := range part {
		o.step(c)
	}
}

func (o *outline) step(c byte) {
	if o.inString {
		o.keep(c)
		switch {
		case o.escaped:
			o.escaped = false
		case c == '\\':
			o.escaped = true
		case c == '"':
			o.inString = false
		}
		return
	}
	switch c {
	case '"':
		o.inString = true
		o.keep(c)
	case '{', '[':
		o.depth++
	case '}', ']':
		if o.depth == 1 {
			o.finish()
		}
		o.depth--
	case ':':
		if o.depth == 1 {
			o.key, o.token, o.isValue = o.token, nil, true
		}
	case ',':
		if o.depth == 1 {
			o.finish()
		}
	case ' ', '\t', '\r':
	default:
		o.keep(c)
	}
}

func (o *outline) keep(c byte) {
	if o.depth == 1 && len(o.token) < keptBytes {
		o.token = append(o.token, c)
	}
}

// finish files the value that ends here.
func (o *outline) finish() {
	if o.isValue && len(o.token) > 0 && len(o.token) < keptBytes {
		switch string(o.key) {
		case `"id"`:
			o.id = o.token
		case `"method"`:
			o.method = o.token
		}
	}
	o.key, o.token, o.isValue = nil, nil, false
}

// message is the outline as a message, if it is one.
func (o *outline) message() (m jsonrpc.Message, ok bool) {
	raw := []byte("{")
	if o.method != nil {
		raw = append(append(append(raw, `"method":`...), o.method...), ',')
	} else {
		raw = append(raw, `"result":null,`...)
	}
	if o.id == nil {
		return m, false
	}
	raw = append(append(append(raw, `"id":`...), o.id...), '}')
	m, err := jsonrpc.Parse(raw)
	return m, err == nil
}
