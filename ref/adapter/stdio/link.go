// Package stdio speaks MCP's stdio transport to one running server process:
// one JSON-RPC message a line, in both directions.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
package stdio

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"bridgecheck/ref/adapter/jsonrpc"
)

// The defaults of [Options].
const (
	DefaultMessageBytes = 32 << 20
	DefaultGarbageLines = 1000
)

// ErrGarbage means that the server wrote too many lines in a row that are no
// JSON-RPC messages.
var ErrGarbage = errors.New("output is not MCP")

// ErrClosed means that the server's output has ended.
var ErrClosed = errors.New("server closed its output")

// Options describe the server to a [Link].
type Options struct {
	// Server is the name that errors carry.
	Server string
	// MessageBytes bounds one message of the server; 0 is [DefaultMessageBytes].
	MessageBytes int
	// GarbageLines is how many lines in a row may be no message before the link
	// fails with [ErrGarbage]; 0 is [DefaultGarbageLines].
	GarbageLines int
	Log          *slog.Logger
}

// Link carries messages to and from one server. It is safe for concurrent use.
type Link struct {
	opts Options
	in   io.WriteCloser
	out  chan outgoing
	done chan struct{}

	mu      sync.Mutex
	err     error                           // why done is closed
	handler func(jsonrpc.Message)           // of everything that is no answer to us
	backlog []jsonrpc.Message               // what came before there was a handler
	calls   map[string]chan jsonrpc.Message // our own requests, by the key of their id
	prefix  string                          // of the ids of our own requests
	garbage int
}

type outgoing struct {
	raw  []byte
	sent chan error
}

// maxBacklog is how many messages are kept for a handler that is not set yet.
const maxBacklog = 256

// NewLink reads out and writes in until one of them fails or ends. It closes in
// by [Link.CloseInput] only; whoever made the pipes closes out.
func NewLink(in io.WriteCloser, out io.Reader, opts Options) *Link {
	if opts.MessageBytes <= 0 {
		opts.MessageBytes = DefaultMessageBytes
	}
	if opts.GarbageLines <= 0 {
		opts.GarbageLines = DefaultGarbageLines
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	l := &Link{
		opts: opts, in: in, out: make(chan outgoing), done: make(chan struct{}),
		calls: map[string]chan jsonrpc.Message{}, prefix: "bridge-" + rand.Text() + "-",
	}
	go l.write()
	go l.read(out)
	return l
}

// Done is closed when nothing more can come from the server.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err tells why Done is closed: [ErrClosed], [ErrGarbage] or a read error.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Handle sets who gets the server's messages, in order, one at a time. What came
// before is given to f first. It may be called again to change hands.
func (l *Link) Handle(f func(jsonrpc.Message)) {
	l.mu.Lock()
	for len(l.backlog) > 0 { // f may call back: it must not run under the lock
		waiting := l.backlog
		l.backlog = nil
		l.mu.Unlock()
		for _, m := range waiting {
			f(m)
		}
		l.mu.Lock()
	}
	l.handler = f
	l.mu.Unlock()
}

// Send writes one message, which must be a single line. A server that does not
// read lets Send wait until ctx ends.
func (l *Link) Send(ctx context.Context, raw []byte) error {
	o := outgoing{raw, make(chan error, 1)}
	select {
	case l.out <- o:
	case <-l.done:
		return l.gone()
	case <-ctx.Done():
		return fmt.Errorf("server %q does not read its input: %w", l.opts.Server, ctx.Err())
	}
	select {
	case err := <-o.sent:
		return err
	case <-l.done:
		return l.gone()
	case <-ctx.Done():
		return fmt.Errorf("server %q does not read its input: %w", l.opts.Server, ctx.Err())
	}
}

// CloseInput is the server's end of input.
func (l *Link) CloseInput() { _ = l.in.Close() }

func (l *Link) gone() error { return fmt.Errorf("server %q: %w", l.opts.Server, l.Err()) }

func (l *Link) write() {
	for {
		select {
		case o := <-l.out:
			_, err := l.in.Write(append(o.raw[:len(o.raw):len(o.raw)], '\n'))
			if err != nil {
				err = fmt.Errorf("write to server %q: %w", l.opts.Server, err)
			}
			o.sent <- err
		case <-l.done:
			return
		}
	}
}

// fail ends the link once.
func (l *Link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		close(l.done)
	}
}
