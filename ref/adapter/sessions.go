package adapter

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"bridgecheck/ref/adapter/jsonrpc"
)

// initialize makes a session with a process of its own and hands it the
// client's request.
func (a *Adapter) initialize(w http.ResponseWriter, r *http.Request, batch []jsonrpc.Message) {
	m := batch[0]
	if len(batch) > 1 {
		refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeInvalidRequest, "initialize must not be part of a batch")
		return
	}
	s, err := a.newSession(r.Context(), &session{initial: m, listen: newStream("0")})
	if err != nil {
		refuse(w, http.StatusBadGateway, m.ID.Of(m.Raw), jsonrpc.CodeInternal, err.Error())
		return
	}
	w.Header().Set(headerSession, s.id)
	s.post(w, r, batch)
}

// newSession starts a process for s and registers it.
func (a *Adapter) newSession(ctx context.Context, s *session) (*session, error) {
	if err := a.makeRoom(); err != nil {
		return nil, err
	}
	proc, err := a.opts.Start(ctx, ForSession)
	if err != nil {
		return nil, err
	}
	s.id, s.a, s.proc = rand.Text(), a, proc
	s.calls, s.tokens = map[string]*call{}, map[string]*call{}
	s.timer = time.AfterFunc(a.opts.Idle, s.expire)
	s.limit = time.AfterFunc(a.opts.Lifetime, func() { s.close("session has reached its lifetime") })
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		s.timer.Stop()
		s.limit.Stop()
		proc.Stop()
		return nil, fmt.Errorf("server %q is being stopped", a.opts.Server)
	}
	a.sessions[s.id] = s
	a.mu.Unlock()
	a.watch(proc, s.close)
	proc.Link().Handle(s.fromServer)
	return s, nil
}

// watch waits in the background for the end of a process.
func (a *Adapter) watch(proc Process, ended func(why string)) {
	a.background(func() {
		<-proc.Link().Done()
		ended(proc.Ended())
	})
}

// makeRoom ends the session that has been idle longest when there are too many.
func (a *Adapter) makeRoom() error {
	a.mu.Lock()
	if len(a.sessions) < a.opts.Sessions {
		a.mu.Unlock()
		return nil
	}
	var oldest *session
	var since time.Time
	for _, s := range a.sessions {
		if at, idle := s.idleSince(); idle && (oldest == nil || at.Before(since)) {
			oldest, since = s, at
		}
	}
	a.mu.Unlock()
	if oldest == nil {
		return fmt.Errorf("server %q has %d busy sessions, which is its limit", a.opts.Server, a.opts.Sessions)
	}
	oldest.close("session made room for another")
	return nil
}

// withSession finds the session that the request names. 404 tells a client to
// begin a new one.
func (a *Adapter) withSession(w http.ResponseWriter, r *http.Request, f func(http.ResponseWriter, *http.Request, *session)) {
	id := r.Header.Get(headerSession)
	s := a.find(id, false)
	switch {
	case id == "":
		refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeInvalidRequest, headerSession+" is required: begin with initialize")
	case s == nil:
		refuse(w, http.StatusNotFound, nil, jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("session is unknown to server %q or has ended: begin with initialize", a.opts.Server))
	default:
		f(w, r, s)
	}
}

// find returns the session with this id, of a transport with one stream or of
// streamable HTTP.
func (a *Adapter) find(id string, one bool) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil && s.one == one {
		return s
	}
	return nil
}

func (a *Adapter) forget(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, s.id)
}

// get is the stream of what belongs to no request, or one that broke off and
// that the client resumes.
func (a *Adapter) get(w http.ResponseWriter, r *http.Request, s *session) {
	from, after := s.resume(r.Header.Get(headerLastEvent))
	if from == nil || !s.enter() {
		refuse(w, http.StatusNotFound, nil, jsonrpc.CodeInvalidRequest, "session has ended, or the event is no longer kept")
		return
	}
	reader := from.attach(after)
	p := responder{w: w, heartbeat: a.opts.Heartbeat}
	err := p.run(r, from, reader)
	s.leave(from.detach(reader) && err != nil)
}
