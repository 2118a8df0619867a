package adapter

import (
	"strconv"
	"strings"
	"time"

	"bridgecheck/ref/adapter/jsonrpc"
)

// headerLastEvent names the last event that a client got before its stream
// broke off.
const headerLastEvent = "Last-Event-Id"

// maxRecent is how many streams of requests a session keeps to be resumed.
const maxRecent = 8

// cancelGrace is how long a request that its client has cancelled may still be
// answered; most servers do not answer it.
const cancelGrace = 2 * time.Second

// resume finds the stream that an event id belongs to and the number of the
// event. Without an id it is the stream of what belongs to no request.
func (s *session) resume(eventID string) (from *stream, after int) {
	if eventID == "" {
		return s.listen, -1
	}
	id, number, _ := strings.Cut(eventID, "-")
	after, err := strconv.Atoi(number)
	if err != nil || after < 0 {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range append([]*stream{s.listen}, s.recent...) {
		if one.id == id {
			return one, after
		}
	}
	return nil, 0
}

// preface makes a stream resumable before its first message: an empty event with
// an id. Clients before 2025-11-25 do not know it.
func (s *session) preface(out *stream) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version < "2025-11-25" {
		return ""
	}
	return "id: " + out.id + "-0\ndata: \n\n"
}

// cancelled ends the response of a request that its client no longer wants.
func (s *session) cancelled(m jsonrpc.Message) {
	key := jsonrpc.Key(m.Lookup("requestId").Of(m.Raw))
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[key]
	if c == nil {
		return // answered meanwhile
	}
	time.AfterFunc(cancelGrace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls[key] == c {
			s.settle(key)
			if *c.left--; *c.left == 0 {
				c.stream.end()
			}
		}
	})
}

// ask gives a request of the server's to the client. Where the client reads
// nothing for too long, the server is told.
func (s *session) ask(m jsonrpc.Message) {
	to := s.streamFor(m)
	if !to.push(event{raw: m.Raw}) {
		s.reply(m, jsonrpc.CodeInternal, "the client does not read")
		return
	}
	if !to.attached() {
		time.AfterFunc(s.a.opts.Unread, func() {
			if to.withdraw(m.Raw) {
				s.reply(m, jsonrpc.CodeInternal, "the client has opened no stream for requests")
			}
		})
	}
}
