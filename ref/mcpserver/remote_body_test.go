package mcpserver_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bridgecheck/ref/mcpserver"
)

// closedByResponse is a request body as net/http gives it: once the response has
// begun it is closed, and whoever then reads past its end gets an error.
type closedByResponse struct {
	*strings.Reader
	begun   chan struct{}
	pastEnd atomic.Bool
}

func (b *closedByResponse) Read(p []byte) (int, error) {
	if b.Len() > 0 {
		return b.Reader.Read(p)
	}
	b.pastEnd.Store(true)
	<-b.begun
	return 0, http.ErrBodyReadAfterClose
}

func (*closedByResponse) Close() error { return nil }

type beginning struct {
	*httptest.ResponseRecorder
	once  sync.Once
	begun chan struct{}
}

func (w *beginning) WriteHeader(status int) {
	w.ResponseRecorder.WriteHeader(status)
	w.once.Do(func() { close(w.begun) })
}

// A server whose answer overtakes the end of the request keeps its connection.
func TestAnswerThatOvertakesItsRequest(t *testing.T) {
	t.Parallel()
	whole := bytes.Repeat([]byte("x"), 8<<20)
	plain := oracleHandler()
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Test") == "" {
			plain.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(whole)
	}))
	defer far.Close()
	m, _, _ := newManager(t)
	if _, err := m.Start(t.Context(), "jira", mcpserver.Config{URL: far.URL + "/mcp"}); err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	body := &closedByResponse{Reader: strings.NewReader("{}"), begun: begun}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", body)
	r.ContentLength = 2
	r.Header.Set("Test", "1")
	w := &beginning{ResponseRecorder: httptest.NewRecorder(), begun: begun}
	m.Handler("jira").ServeHTTP(w, r)
	if body.pastEnd.Load() || w.Body.Len() != len(whole) {
		t.Errorf("%d of %d bytes came; the body was read past its end: %v", w.Body.Len(), len(whole), body.pastEnd.Load())
	}
}
