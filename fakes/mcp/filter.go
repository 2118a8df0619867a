package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// floodBytes is what a server that floods writes to stderr.
const floodBytes = 1 << 20

// RawMethod is a method of our own, which the library never sees: the answer
// holds in "line" the request as it arrived, and in "exact" what a relay that
// decodes and encodes again would change.
const RawMethod = "fake/raw"

// Exact is what an answer to [RawMethod] has in "exact", token for token.
const Exact = `{"z":1,"a":2.50,"big":9007199254740993,"exp":1e2,"text":"\u00e9\/","unknown":{}}`

// message is what the filter looks at.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func (m message) isRequest() bool { return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null" }

// filter stands between the input and the server and takes out what the server
// shall not see, or answers it itself.
type filter struct {
	options  Options
	announce func(format string, args ...any)
	answer   io.Writer // for answers of the filter's own
	scripts  *scripts
	answered int
}

// copy passes lines on until the input ends; then out is closed.
func (f *filter) copy(in io.Reader, out *io.PipeWriter) {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 && f.passes(line) {
			_, _ = out.Write(line) // the reader went away only when the process ends
		}
		if err != nil {
			_ = out.CloseWithError(io.EOF)
			return
		}
	}
}

// passes decides about one line.
func (f *filter) passes(line []byte) bool {
	var m message
	err := json.Unmarshal(line, &m)
	scripted := m.Method != ScriptMethod && f.scripts.note(line)
	if err != nil || !m.isRequest() {
		if m.Method != "" {
			f.announce("notification %s", m.Method)
		}
		// An answer to what a script has said is nothing to the library.
		return !f.options.Mute && (m.Method != "" || !scripted)
	}
	f.announce("request %s", m.Method)
	if f.options.Mute || (f.options.HangAfter >= 0 && f.answered >= f.options.HangAfter) {
		return false
	}
	f.answered++
	switch protocol.MCPMethod(m.Method) {
	case RawMethod:
		f.raw(m, line)
		return false
	case ScriptMethod:
		go f.script(m, line, f.scripts.begin())
		return false
	case protocol.MethodServerDiscover:
		return f.discover(m)
	case protocol.MethodInitialize:
		if f.options.Era == EraModern {
			f.unknown(m)
			return false
		}
	}
	return true
}

// discover meets server/discover in the way that was asked for.
func (f *filter) discover(m message) bool {
	switch f.options.Discover {
	case DiscoverIgnore:
		f.answered--
		return false
	case DiscoverDie:
		fmt.Fprintf(os.Stderr, "%s: unknown method %s, giving up\n", f.options.Name, m.Method)
		os.Exit(1)
	case DiscoverFlood:
		f.answered--
		flood(os.Stderr, floodBytes)
		return false
	}
	if f.options.Era == EraLegacy {
		f.unknown(m)
		return false
	}
	return true
}

// raw answers [RawMethod] by hand.
func (f *filter) raw(m message, line []byte) {
	quoted, err := json.Marshal(string(bytes.TrimRight(line, "\r\n")))
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(f.answer, `{"jsonrpc":"2.0","id":%s,"result":{"line":%s,"exact":%s}}`+"\n", m.ID, quoted, Exact)
}

// unknown answers as a server that has no such method.
func (f *filter) unknown(m message) {
	_, _ = fmt.Fprintf(f.answer, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"Method not found: %s"}}`+"\n",
		m.ID, protocol.METHOD_NOT_FOUND, m.Method)
}

// flood writes size bytes of text lines.
func flood(w io.Writer, size int64) {
	const line = "a line of log that nobody asked for\n"
	for ; size > 0; size -= int64(len(line)) {
		_, _ = io.WriteString(w, line[:min(size, int64(len(line)))])
	}
}
