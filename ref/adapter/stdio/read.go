package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"bridgecheck/ref/adapter/jsonrpc"
)

// shownBytes is how much of a bad line goes into the log.
const shownBytes = 200

func (l *Link) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, big, err := readLine(r, l.opts.MessageBytes)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrClosed
			}
			l.fail(err)
			return
		}
		if big != nil {
			l.tooBig(big)
			continue
		}
		if line = jsonrpc.OneLine(line); len(line) == 0 {
			continue // a blank line is neither a message nor a complaint
		}
		if !l.take(line) {
			l.fail(fmt.Errorf("%w: more than %d lines in a row are not JSON-RPC messages", ErrGarbage, l.opts.GarbageLines))
			return
		}
	}
}

// take handles one line; it returns false when there was one bad line too many.
func (l *Link) take(line []byte) bool {
	batch := jsonrpc.Elements(line) // JSON-RPC batches, MCP 2025-03-26
	if batch == nil {
		batch = [][]byte{line}
	}
	for _, one := range batch {
		m, err := jsonrpc.Parse(one)
		if err != nil {
			l.opts.Log.Warn("skip a line of the server's output", "server", l.opts.Server, "cause", err,
				"line", string(one[:min(len(one), shownBytes)]))
			if l.garbage++; l.garbage > l.opts.GarbageLines {
				return false
			}
			continue
		}
		l.garbage = 0
		l.dispatch(m)
	}
	return true
}

// dispatch gives m to the call it answers or else to the handler.
func (l *Link) dispatch(m jsonrpc.Message) {
	l.mu.Lock()
	if m.Kind == jsonrpc.Response {
		if c, ok := l.calls[m.Key()]; ok {
			delete(l.calls, m.Key())
			l.mu.Unlock()
			c <- m
			return
		}
		if strings.HasPrefix(m.Key(), "s"+l.prefix) { // too late for us, and nothing for a client
			l.mu.Unlock()
			return
		}
	}
	handler := l.handler
	if handler == nil {
		if len(l.backlog) < maxBacklog {
			l.backlog = append(l.backlog, m)
		}
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	handler(m)
}

// ReadLine returns the next line without its newline; fits is false for one of
// more than limit bytes, which is passed over.
func ReadLine(r *bufio.Reader, limit int) (line []byte, fits bool, err error) {
	line, big, err := readLine(r, limit)
	return line, big == nil, err
}

// readLine returns the next line without its newline, or what is known of a
// line of more than limit bytes. A last line without a newline counts.
func readLine(r *bufio.Reader, limit int) (line []byte, big *outline, err error) {
	for {
		part, err := r.ReadSlice('\n')
		part, ended := bytes.CutSuffix(part, []byte("\n"))
		switch {
		case big != nil:
			big.feed(part)
		case len(line)+len(part) > limit:
			big = &outline{}
			big.feed(line)
			big.feed(part)
			line = nil
		default:
			line = append(line, part...)
		}
		switch {
		case ended, err != nil && !errors.Is(err, bufio.ErrBufferFull) && (len(line) > 0 || big != nil):
			return line, big, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, nil, err
		}
	}
}
