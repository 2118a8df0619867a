// Package stdio speaks MCP's stdio transport to one running server process:
// one JSON-RPC message a line, in both directions.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
package stdio

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

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
	done chan struct{}
	wake chan struct{} // has room for one: the queue has grown

	garbage int // bad lines in a row; of the reader alone

	mu      sync.Mutex
	queue   [][]byte                        // messages for the server
	queued  int                             // their bytes
	drained chan struct{}                   // closed when they are all written; nil when nobody waits for it
	err     error                           // why done is closed
	handler func(jsonrpc.Message)           // of everything that is no answer to us
	backlog []jsonrpc.Message               // what came before there was a handler
	calls   map[string]chan jsonrpc.Message // our own requests, by the key of their id
	prefix  string                          // of the ids of our own requests
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
		opts: opts, in: in, done: make(chan struct{}), wake: make(chan struct{}, 1),
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

// Send hands one message, which must be a single line, to the server. It does
// not wait until the server reads it: messages leave in the order of the calls.
// It returns an error when the link has ended, or when the server has left more
// than four of the longest messages unread.
func (l *Link) Send(raw []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return fmt.Errorf("server %q: %w", l.opts.Server, l.err)
	case l.queued+len(raw) > 4*l.opts.MessageBytes:
		return fmt.Errorf("server %q does not read its input: %d bytes wait for it", l.opts.Server, l.queued)
	}
	l.queue = append(l.queue, raw)
	l.queued += len(raw)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}

// drainBound is how long the end of input waits for what was sent before it.
const drainBound = 500 * time.Millisecond

// CloseInput is the server's end of input, behind what has been sent: a client
// may say all that it has to say and close. A server that does not read gets it
// without the rest.
func (l *Link) CloseInput() {
	l.mu.Lock()
	if l.queued > 0 && l.drained == nil {
		l.drained = make(chan struct{})
	}
	drained := l.drained
	l.mu.Unlock()
	if drained != nil {
		select {
		case <-drained:
		case <-l.done:
		case <-time.After(drainBound):
		}
	}
	_ = l.in.Close()
}

func (l *Link) gone() error { return fmt.Errorf("server %q: %w", l.opts.Server, l.Err()) }

// write passes the queue on. It ends with the link, or with the pipe: a server
// that reads no more will not answer either.
func (l *Link) write() {
	for {
		select {
		case <-l.wake:
		case <-l.done:
			return
		}
		l.mu.Lock()
		queue := l.queue
		l.queue = nil
		l.mu.Unlock()
		for _, raw := range queue {
			if _, err := l.in.Write(append(slices.Clip(raw), '\n')); err != nil {
				l.fail(fmt.Errorf("write to server: %w", err))
				return
			}
			l.mu.Lock()
			l.queued -= len(raw)
			if l.queued == 0 && l.drained != nil {
				close(l.drained)
				l.drained = nil
			}
			l.mu.Unlock()
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
