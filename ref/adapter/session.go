package adapter

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"bridgecheck/ref/adapter/jsonrpc"
)

// session is one client of the eras with a handshake, and its process.
type session struct {
	id     string
	a      *Adapter
	proc   Process
	one    bool        // of a transport with one stream; every message goes to listen
	listen *stream     // what belongs to no request
	timer  *time.Timer // ends it when it is idle
	limit  *time.Timer // ends it in any case

	mu      sync.Mutex
	initial jsonrpc.Message // the client's initialize
	version string          // negotiated
	ended   string          // why, empty while the session lives
	calls   map[string]*call
	tokens  map[string]*call // calls by their progress token
	order   []*call          // calls, oldest first
	streams int              // how many were made, for their ids
	recent  []*stream        // of the latest requests, for a client that resumes
	busy    int              // HTTP requests in progress
	touched time.Time        // when busy became 0
}

// call is one request of the client that waits for its answer.
type call struct {
	id     []byte // raw, as the client wrote it
	key    string
	token  string // key of the progress token, empty without one
	stream *stream
	left   *int // responses that the stream still waits for
}

// post relays what a client sends and answers with what the server returns.
func (s *session) post(w http.ResponseWriter, r *http.Request, batch []jsonrpc.Message) {
	if !s.enter() {
		refuse(w, http.StatusNotFound, nil, jsonrpc.CodeInvalidRequest, "session has ended")
		return
	}
	vanished := false
	defer func() { s.leave(vanished) }()
	if rej := s.check(r.Header, batch); rej != nil {
		refuse(w, http.StatusBadRequest, nil, rej.code, rej.text)
		return
	}
	out, err := s.register(batch)
	if err != nil {
		refuse(w, http.StatusBadRequest, batch[0].ID.Of(batch[0].Raw), jsonrpc.CodeInvalidRequest, err.Error())
		return
	}
	for _, m := range batch {
		if err := s.proc.Link().Send(m.Raw); err != nil {
			s.failed(m, err)
		}
		if m.Method == methodCancelled {
			s.cancelled(m)
		}
	}
	if !hasRequest(batch) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	reader := out.attach(-1)
	p := responder{
		w: w, heartbeat: s.a.opts.Heartbeat, single: len(batch) == 1, status: okStatus, preface: s.preface(out),
	}
	err = p.run(r, out, reader)
	vanished = out.detach(reader) && err != nil
}

func okStatus(event) int { return http.StatusOK }

// check refuses what the negotiated revision does not know.
func (s *session) check(h http.Header, batch []jsonrpc.Message) *rejection {
	if v := h.Get(headerVersion); v != "" && !slices.Contains(sessionVersions, v) {
		return &rejection{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("protocol version %q is unknown", v)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(batch) > 1 && s.version > "2025-03-26" {
		return &rejection{code: jsonrpc.CodeInvalidRequest, text: "batches are not part of " + s.version}
	}
	return nil
}

// register notes the requests of batch and makes the stream of their answers.
func (s *session) register(batch []jsonrpc.Message) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams++
	out, left := newStream(strconv.Itoa(s.streams)), 0
	if s.ended != "" { // after close nobody would answer
		return nil, fmt.Errorf("server %q: %s", s.a.opts.Server, s.ended)
	}
	var calls []*call
	for _, m := range batch {
		if m.Kind != jsonrpc.Request {
			continue
		}
		c := &call{id: m.ID.Of(m.Raw), key: m.Key(), stream: out, left: &left}
		if token := m.Lookup("_meta", "progressToken"); token.Present() {
			c.token = jsonrpc.Key(token.Of(m.Raw))
		}
		twice := slices.ContainsFunc(calls, func(o *call) bool { return o.key == c.key })
		if _, waiting := s.calls[c.key]; waiting || twice {
			return nil, errIDInUse
		}
		calls = append(calls, c)
	}
	for _, c := range calls {
		left++
		s.calls[c.key] = c
		s.order = append(s.order, c)
		if c.token != "" {
			s.tokens[c.token] = c
		}
	}
	if left == 0 { // nothing will come that could be missed
		return out, nil
	}
	if s.recent = append(s.recent, out); len(s.recent) > maxRecent {
		s.recent = s.recent[1:]
	}
	return out, nil
}

// settle takes the call with this key off the list.
func (s *session) settle(key string) *call {
	c := s.calls[key]
	if c == nil {
		return nil
	}
	delete(s.calls, key)
	if s.tokens[c.token] == c {
		delete(s.tokens, c.token)
	}
	s.order = slices.DeleteFunc(s.order, func(o *call) bool { return o == c })
	return c
}

// answer gives a call its response and ends the stream after the last one.
func (c *call) answer(raw []byte, code int) {
	*c.left--
	c.stream.push(event{raw: raw, response: true, last: *c.left == 0, code: code})
}

// failed answers for a server that could not be reached.
func (s *session) failed(m jsonrpc.Message, err error) {
	s.failedWith(m, codeServerGone, err.Error())
}

// failedWith answers a request in the server's place.
func (s *session) failedWith(m jsonrpc.Message, code int, text string) {
	if m.Kind != jsonrpc.Request {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.settle(m.Key()); c != nil {
		c.answer(jsonrpc.NewError(c.id, code, text, nil), code)
	}
}
