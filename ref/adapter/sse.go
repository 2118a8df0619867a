package adapter

import (
	"errors"
	"net/http"

	"bridgecheck/ref/adapter/jsonrpc"
)

// The transport of 2024-11-05: a stream that the client opens first, and an
// endpoint for what it sends. The stream is the session.
// https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse

// sessionQuery names the session in the endpoint's URL.
const sessionQuery = "sessionId"

// serveSSE opens a session and tells the client where to send.
func (a *Adapter) serveSSE(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		// 405 is how a client of both transports learns which it has before it.
		notAllowed(w, http.MethodGet, "this endpoint is the stream of HTTP with SSE: use GET")
		return
	}
	s, err := a.newSession(r.Context(), &session{one: true, listen: newStream("")})
	if err != nil {
		refuse(w, http.StatusBadGateway, nil, jsonrpc.CodeInternal, err.Error())
		return
	}
	if !s.enter() {
		refuse(w, http.StatusBadGateway, nil, jsonrpc.CodeInternal, "the server has ended")
		return
	}
	// Relative, so that it is right behind every prefix at which we are served.
	p := responder{
		w: w, heartbeat: a.opts.Heartbeat,
		preface: "event: endpoint\ndata: messages?" + sessionQuery + "=" + s.id + "\n\n",
	}
	_ = p.run(r, s.listen, s.listen.attach(-1)) // however it ended, so has the session
	s.leave(false)
	s.close("session ended with its stream")
}

// serveMessages takes what the client sends; answers go to the stream.
func (a *Adapter) serveMessages(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		notAllowed(w, http.MethodPost, "this endpoint takes messages: use POST")
		return
	}
	s := a.find(r.URL.Query().Get(sessionQuery), true)
	if s == nil || !s.enter() {
		refuse(w, http.StatusNotFound, nil, jsonrpc.CodeInvalidRequest, "session is unknown or has ended: open /sse")
		return
	}
	defer s.leave(false)
	batch := a.readBatch(w, r)
	if batch == nil {
		return
	}
	for _, m := range batch {
		if !s.pass(m) {
			refuse(w, http.StatusBadRequest, m.ID.Of(m.Raw), jsonrpc.CodeInvalidRequest, errIDInUse.Error())
			return
		}
	}
	w.WriteHeader(http.StatusAccepted)
}

var errIDInUse = errors.New("the id is in use by a request that waits for its answer")

// pass gives a message of the client's to the server; every answer goes to the
// session's one stream. It returns false for an id that is in use.
func (s *session) pass(m jsonrpc.Message) bool {
	if m.Kind == jsonrpc.Request && !s.note(m) {
		return false
	}
	if m.Method == methodDiscover && len(s.a.opts.Versions) == 0 {
		s.failedWith(m, jsonrpc.CodeMethodNotFound, s.a.tooOld()) // it might never answer
		return true
	}
	if err := s.proc.Link().Send(m.Raw); err != nil {
		s.failed(m, err)
	}
	return true
}

// note registers a request whose answer goes to the session's stream.
func (s *session) note(m jsonrpc.Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := m.Key()
	if s.calls[key] != nil {
		return false
	}
	if m.Method == methodInitialize && s.initial.Raw == nil {
		s.initial = m
	}
	c := &call{id: m.ID.Of(m.Raw), key: key, stream: s.listen, left: new(int)} // left never comes to 0
	s.calls[key] = c
	s.order = append(s.order, c)
	return true
}
