package adapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"bridgecheck/ref/adapter/jsonrpc"
)

// Adapter is the HTTP side of one server.
type Adapter struct {
	opts Options
	// life ends with Close; it bounds what outlives a single request.
	life context.Context
	end  context.CancelFunc
	jobs sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session

	sharedMu sync.Mutex // held while a process for stateless requests starts
	shared   *shared
	mirrors  mirrors
}

// stopping is why requests fail while the adapter closes.
const stopping = "is being stopped"

// New makes an adapter. It starts no process.
func New(opts Options) *Adapter {
	life, end := context.WithCancel(context.Background())
	return &Adapter{opts: opts.withDefaults(), life: life, end: end, sessions: map[string]*session{}}
}

// Close ends every session and process; requests that wait get an error. It
// returns when all are gone.
func (a *Adapter) Close() {
	a.mu.Lock()
	a.closed = true
	var all []*session
	for _, s := range a.sessions {
		all = append(all, s)
	}
	a.mu.Unlock()
	a.end()
	var closing sync.WaitGroup // at the same time: each may take its grace
	for _, s := range all {
		closing.Go(func() { s.close(stopping) })
	}
	closing.Go(func() {
		a.sharedMu.Lock()
		defer a.sharedMu.Unlock()
		if a.shared != nil {
			a.shared.close(stopping)
		}
	})
	closing.Wait()
	a.jobs.Wait()
}

// background runs f without its caller, and before Close returns; what is
// started after that is not waited for.
func (a *Adapter) background(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		go f()
		return
	}
	a.jobs.Go(f)
}

// ServeHTTP serves the MCP endpoint at /mcp, the two of the transport of
// 2024-11-05 at /sse and /messages, and at /stdio what [Pipe] connects to.
func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := checkSource(r, a.opts.AllowHost); err != nil {
		refuse(w, http.StatusForbidden, nil, jsonrpc.CodeInvalidRequest, err.Error())
		return
	}
	switch r.URL.Path {
	case "/mcp", "/mcp/":
		a.serveMCP(w, r)
	case "/sse":
		a.serveSSE(w, r)
	case "/messages":
		a.serveMessages(w, r)
	case "/stdio":
		a.serveStdio(w, r)
	default:
		refuse(w, http.StatusNotFound, nil, jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("nothing is served at %s; the MCP endpoint of server %q is /mcp", r.URL.Path, a.opts.Server))
	}
}

func (a *Adapter) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost && isStateless(r.Header.Get(headerVersion)) {
		notAllowed(w, http.MethodPost, r.Method+" is not part of "+firstStateless+": use subscriptions/listen")
		return
	}
	switch r.Method {
	case http.MethodPost:
		a.post(w, r)
	case http.MethodGet:
		a.withSession(w, r, a.get)
	case http.MethodDelete:
		a.withSession(w, r, func(w http.ResponseWriter, _ *http.Request, s *session) {
			s.close("session was ended by its client")
			w.WriteHeader(http.StatusNoContent)
		})
	default:
		notAllowed(w, "POST, GET, DELETE", r.Method+" is not an MCP method")
	}
}

// post decides by whom a message is handled: a stateless server, a session, or
// a session that is to be made.
func (a *Adapter) post(w http.ResponseWriter, r *http.Request) {
	batch := a.readBatch(w, r)
	if batch == nil {
		return
	}
	if !accepts(r.Header) && hasRequest(batch) {
		refuse(w, http.StatusNotAcceptable, nil, jsonrpc.CodeInvalidRequest,
			"Accept must allow both application/json and text/event-stream")
		return
	}
	first := batch[0]
	switch {
	case wantsStateless(r.Header, first):
		a.stateless(w, r, batch)
	case r.Header.Get(headerSession) == "" && first.Method == methodInitialize && first.Kind == jsonrpc.Request:
		a.initialize(w, r, batch)
	default:
		a.withSession(w, r, func(w http.ResponseWriter, r *http.Request, s *session) { s.post(w, r, batch) })
	}
}

// readBatch reads the messages of a request, or answers what is wrong with them.
func (a *Adapter) readBatch(w http.ResponseWriter, r *http.Request) []jsonrpc.Message {
	raw, err := a.readBody(w, r)
	if err != nil {
		return nil
	}
	batch, err := parseBody(raw)
	if err != nil {
		code := jsonrpc.CodeInvalidRequest
		if errors.Is(err, jsonrpc.ErrNotJSON) {
			code = jsonrpc.CodeParse
		}
		refuse(w, http.StatusBadRequest, nil, code, err.Error())
		return nil
	}
	return batch
}

// readBody reads one message, or answers that it is too long. What follows the
// limit is read for a while: a client that still writes would not see the answer.
func (a *Adapter) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := int64(a.opts.MessageBytes)
	raw, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err == nil && int64(len(raw)) > limit {
		_, _ = io.CopyN(io.Discard, r.Body, 4*limit)
		err = errTooLong
		refuse(w, http.StatusRequestEntityTooLarge, nil, jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("a message to server %q may have %d bytes", a.opts.Server, limit))
	}
	return raw, err
}

var errTooLong = errors.New("message is too long")

// parseBody returns the messages of a body, one for all but a batch.
func parseBody(raw []byte) ([]jsonrpc.Message, error) {
	raw = jsonrpc.OneLine(raw)
	if !bytes.HasPrefix(raw, []byte("[")) {
		m, err := jsonrpc.Parse(raw)
		return []jsonrpc.Message{m}, err
	}
	elements := jsonrpc.Elements(raw)
	if elements == nil {
		return nil, jsonrpc.ErrNotJSON
	}
	out := make([]jsonrpc.Message, len(elements))
	for i, one := range elements {
		var err error
		if out[i], err = jsonrpc.Parse(one); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func hasRequest(batch []jsonrpc.Message) bool {
	for _, m := range batch {
		if m.Kind == jsonrpc.Request {
			return true
		}
	}
	return false
}
