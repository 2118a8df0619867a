package jsonrpc

import (
	"bytes"
	"encoding/json"
)

// Span is a part of a message: its bytes from Start up to End. The zero Span
// means that the value is absent.
type Span struct{ Start, End int }

// Present tells whether the value was there.
func (s Span) Present() bool { return s.End > s.Start }

// Of returns the bytes that s marks in raw.
func (s Span) Of(raw []byte) []byte { return raw[s.Start:s.End] }

// members calls f for each member of the object that in marks. raw must be
// valid JSON; anything but an object has no members. f returns false to stop.
func members(raw []byte, in Span, f func(key []byte, value Span) bool) {
	i := space(raw, in.Start)
	if i >= in.End || raw[i] != '{' {
		return
	}
	for i = space(raw, i+1); raw[i] != '}'; i = space(raw, i) {
		if raw[i] == ',' {
			i = space(raw, i+1)
		}
		keyEnd := skip(raw, i)
		key := raw[i:keyEnd]
		i = space(raw, keyEnd)
		i = space(raw, i+1) // past the colon
		end := skip(raw, i)
		if !f(key, Span{i, end}) {
			return
		}
		i = end
	}
}

// Elements returns the elements of the array that raw is.
func Elements(raw []byte) [][]byte {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '[' || !json.Valid(raw) {
		return nil
	}
	var out [][]byte
	for i = space(raw, i+1); raw[i] != ']'; i = space(raw, i) {
		if raw[i] == ',' {
			i = space(raw, i+1)
		}
		end := skip(raw, i)
		out = append(out, raw[i:end])
		i = end
	}
	return out
}

// Lookup finds the member key of the object that in marks. A name that stands
// twice is an error: two readers may then see two different messages.
func Lookup(raw []byte, in Span, key string) (Span, error) {
	var found Span
	var err error
	members(raw, in, func(k []byte, v Span) bool {
		if keyIs(k, key) {
			err = set(&found, v, key)
		}
		return err == nil
	})
	if err != nil {
		return Span{}, err
	}
	return found, nil
}

// keyIs compares a quoted key, escapes included, with a name.
func keyIs(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == name
	}
	s, ok := Text(quoted)
	return ok && s == name
}

// Text returns the string that the JSON token quoted stands for.
func Text(quoted []byte) (string, bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return s, err == nil
}

func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skip returns the index after the value that begins at i of valid JSON.
func skip(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
	default:
		return skipScalar(raw, i)
	}
	for depth := 0; ; i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

func skipScalar(raw []byte, i int) int {
	for ; i < len(raw); i++ {
		switch raw[i] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return i
}

func skipString(raw []byte, i int) int {
	for i++; ; i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
