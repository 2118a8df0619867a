package adapter

import (
	"fmt"
	"time"

	"bridgecheck/ref/adapter/jsonrpc"
)

// codeServerGone answers a request whose server has ended. The number is the
// one the TypeScript SDK uses for a closed connection.
const codeServerGone = -32000

// fromServer routes one message of the session's process. It runs in the
// link's reader and never waits.
func (s *session) fromServer(m jsonrpc.Message) {
	if s.route(m) {
		s.close("initialize was refused")
	}
}

// route returns true when m refuses the client's initialize: without it there
// is no session.
func (s *session) route(m jsonrpc.Message) (refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Kind {
	case jsonrpc.Response:
		c := s.settle(m.Key())
		if c == nil {
			s.a.opts.Log.Info("drop an answer nobody waits for", "server", s.a.opts.Server, "id", string(m.ID.Of(m.Raw)))
			return false
		}
		if s.version == "" && s.initial.Raw != nil && c.key == s.initial.Key() {
			s.version, _ = jsonrpc.Text(m.LookupResult("protocolVersion").Of(m.Raw))
			refused = m.Error.Present()
		}
		c.answer(m.Raw, m.ErrorCode())
	case jsonrpc.Request:
		if missing := s.lacks(m.Method); missing != "" {
			s.reply(m, jsonrpc.CodeMethodNotFound, "the client does not have the capability "+missing)
			return false
		}
		s.ask(m)
	case jsonrpc.Notification:
		s.streamFor(m).push(event{raw: m.Raw})
	}
	return refused
}

// streamFor chooses where a message of the server's goes. Stdio does not tell to
// which request it relates, but for progress: with one request in progress it
// is that one, with several the stream that is open for all, or else the latest.
// A request whose client has vanished gives way to a stream that is read.
func (s *session) streamFor(m jsonrpc.Message) *stream {
	if m.Method == "notifications/progress" {
		if c := s.tokens[jsonrpc.Key(m.Lookup("progressToken").Of(m.Raw))]; c != nil {
			return c.stream
		}
	}
	n := len(s.order)
	if n == 0 {
		return s.listen
	}
	latest := s.order[n-1].stream
	if s.listen.attached() && (n > 1 || !latest.attached()) {
		return s.listen
	}
	return latest
}

// lacks names the capability that the client would need for the request and
// has not declared.
func (s *session) lacks(method string) string {
	need, ok := map[string]string{
		"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots",
	}[method]
	if !ok {
		return ""
	}
	if at := s.initial.Lookup("capabilities", need); at.Present() {
		return ""
	}
	return need
}

// reply answers the server in the client's place.
func (s *session) reply(m jsonrpc.Message, code int, text string) {
	if err := s.proc.Link().Send(jsonrpc.NewError(m.ID.Of(m.Raw), code, text, nil)); err != nil {
		s.a.opts.Log.Warn("answer the server", "cause", err)
	}
}

// enter counts an HTTP request in; it returns false when the session has ended.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != "" {
		return false
	}
	s.busy++
	s.timer.Stop()
	return true
}

// leave counts it out. A client that has vanished gets less time to come back.
func (s *session) leave(vanished bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy--; s.busy > 0 || s.ended != "" {
		return
	}
	s.touched = time.Now()
	after := s.a.opts.Idle
	if vanished {
		after = s.a.opts.Detached
	}
	s.timer.Reset(after)
}

func (s *session) idleSince() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.touched, s.busy == 0
}

func (s *session) expire() {
	if _, idle := s.idleSince(); idle {
		s.close("session was idle for too long")
	}
}

// close ends the session once: who waits is told why, the process is stopped.
func (s *session) close(why string) {
	s.mu.Lock()
	if s.ended != "" {
		s.mu.Unlock()
		return
	}
	s.ended = why
	s.timer.Stop()
	s.limit.Stop()
	text := fmt.Sprintf("server %q: %s", s.a.opts.Server, why)
	for len(s.order) > 0 {
		c := s.settle(s.order[0].key)
		c.answer(jsonrpc.NewError(c.id, codeServerGone, text, nil), codeServerGone)
	}
	s.listen.end()
	s.mu.Unlock()
	s.a.forget(s)
	s.a.background(s.proc.Stop)
}
