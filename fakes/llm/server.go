// Package llm is a scripted model: the part of the Anthropic Messages API, of
// OpenAI's chat completions and Responses, and of Google's Gemini API that coding
// agents use, with answers that call one tool and then say what it returned. It
// keeps the requests, so that a check can see which credentials and which tools
// reached the model.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Script is what the model does.
type Script struct {
	// Tool is called once in each conversation, by the name that the model sees
	// (mcp__NAME__echo; NAMESPACE__echo where tools have one), with Input. Without a tool the model only says Text.
	Tool  string
	Input map[string]any
	// Text is said where no tool is called; its default is "hello".
	Text string
	// Step, when not nil, is received from before each event of a stream: a
	// proxy that holds events back makes the client and the test stand still.
	Step <-chan struct{}
}

// Request is one HTTP request as it arrived.
type Request struct {
	Method string
	Path   string
	Host   string
	Header http.Header
	Body   []byte
}

// Server is one running model. Its methods may be called from anywhere.
type Server struct {
	script   Script
	listener net.Listener
	http     *http.Server
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu       sync.Mutex
	requests []Request
}

// maxBody bounds a request.
const maxBody = 32 << 20

// Start serves on addr: IP:PORT (port 0 for any free one) or unix:PATH.
func Start(addr string, script Script) (*Server, error) {
	network, address := "tcp", addr
	if path, isPath := strings.CutPrefix(addr, "unix:"); isPath {
		network, address = "unix", path
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("start model API: %w", err)
	}
	if script.Text == "" {
		script.Text = "hello"
	}
	s := &Server{script: script, listener: listener}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.answer), ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	s.done.Go(func() { _ = s.http.Serve(listener) })
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Requests are all requests in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Close ends the server and its streams. A second call does nothing.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close()
	s.done.Wait()
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.done.Add(1)
	defer s.done.Done()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		Method: r.Method, Path: r.URL.Path, Host: r.Host, Header: r.Header.Clone(), Body: body,
	})
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		s.messages(w, body)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions":
		s.chat(w, body)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/responses":
		s.responses(w, body)
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1beta/models/"):
		s.gemini(w, r.URL.Path, body)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		writeJSON(w, http.StatusOK, map[string]any{"input_tokens": 1})
	case r.Method == http.MethodHead && r.URL.Path == "/":
		w.WriteHeader(http.StatusOK)
	case r.Method == http.MethodTrace: // RFC 9110 section 9.3.8
		w.Header().Set("Content-Type", "message/http")
		_ = r.Header.Write(w)
	default:
		writeJSON(w, http.StatusNotFound, apiError("not_found_error", r.Method+" "+r.URL.Path))
	}
}

// messages answers POST /v1/messages.
func (s *Server) messages(w http.ResponseWriter, body []byte) {
	var request request
	if err := json.Unmarshal(body, &request); err != nil {
		writeJSON(w, http.StatusBadRequest, apiError("invalid_request_error", err.Error()))
		return
	}
	turn := s.script.next(request)
	if !request.Stream {
		writeJSON(w, http.StatusOK, turn.message(request.Model))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for _, event := range turn.events(request.Model) {
		data, err := json.Marshal(event)
		if err != nil || !s.step() {
			return
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
		_ = control.Flush()
	}
}

// step waits until the next event may go; false: the server is closed.
func (s *Server) step() bool {
	if s.script.Step == nil {
		return true
	}
	select {
	case <-s.script.Step:
		return true
	case <-s.ctx.Done():
		return false
	}
}

func apiError(kind, text string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
