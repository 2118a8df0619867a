package adapter_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/adapter/stdio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// process is a server in this process: the test reads what reaches its stdin
// and writes what it is to say.
type process struct {
	link  *stdio.Link
	use   adapter.Use
	stdin chan string
	out   *io.PipeWriter
	stop  sync.Once
	gone  chan struct{}
}

func newProcess(use adapter.Use, messageBytes int) *process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &process{use: use, stdin: make(chan string, 1000), out: outW, gone: make(chan struct{})}
	p.link = stdio.NewLink(inW, outR, stdio.Options{Server: "jira", MessageBytes: messageBytes})
	go func() {
		defer close(p.stdin)
		in := bufio.NewReader(inR)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			p.stdin <- strings.TrimSuffix(line, "\n")
		}
	}()
	return p
}

func (p *process) Link() *stdio.Link { return p.link }
func (p *process) Ended() string     { return "exited with code 3" }
func (p *process) Stop() {
	p.stop.Do(func() {
		p.link.CloseInput()
		_ = p.out.Close()
		close(p.gone)
	})
	<-p.link.Done()
}

// say writes lines to stdout.
func (p *process) say(lines ...string) {
	for _, l := range lines {
		_, _ = io.WriteString(p.out, l+"\n")
	}
}

// heard returns the next line that came to stdin.
func (p *process) heard(t *testing.T) string {
	t.Helper()
	select {
	case l := <-p.stdin:
		return l
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came to the server")
		return ""
	}
}

// bridge is an adapter behind a TCP listener.
type bridge struct {
	t       *testing.T
	adapter *adapter.Adapter
	url     string
	http    *http.Client
	started chan *process
	fail    error // of the next start
}

func newBridge(t *testing.T, opts adapter.Options) *bridge {
	t.Helper()
	b := &bridge{t: t, started: make(chan *process, 100)}
	opts.Server = "jira"
	opts.AllowHost = func(h string) bool { return h == "127.0.0.1" || h == "jira.mcp.internal" }
	opts.Start = func(_ context.Context, use adapter.Use) (adapter.Process, error) {
		if b.fail != nil {
			return nil, b.fail
		}
		p := newProcess(use, opts.MessageBytes)
		b.started <- p
		return p, nil
	}
	b.adapter = adapter.New(opts)
	s := httptest.NewServer(b.adapter)
	b.url, b.http = s.URL+"/mcp", s.Client()
	t.Cleanup(func() {
		b.adapter.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return b
}

func (b *bridge) process() *process {
	b.t.Helper()
	select {
	case p := <-b.started:
		return p
	case <-time.After(30 * time.Second):
		b.t.Fatal("no process was started")
		return nil
	}
}

// request sends a request and returns the response; headers are name, value.
func (b *bridge) request(method, body string, headers ...string) *http.Response {
	b.t.Helper()
	resp, err := b.try(method, body, headers...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func (b *bridge) try(method, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequest(method, b.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	for n := 0; n < len(headers); n += 2 {
		if headers[n] == "Host" {
			req.Host = headers[n+1]
		}
		req.Header.Set(headers[n], headers[n+1])
	}
	return b.http.Do(req)
}

// later sends a request and gives its response when it has come.
func (b *bridge) later(body string, headers ...string) <-chan *http.Response {
	out := make(chan *http.Response, 1)
	go func() {
		resp, err := b.try(http.MethodPost, body, headers...)
		if err != nil {
			resp = &http.Response{Status: err.Error(), Body: io.NopCloser(strings.NewReader(""))}
		}
		b.t.Cleanup(func() { _ = resp.Body.Close() })
		out <- resp
	}()
	return out
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{"roots":{}}}}`

// session begins a session of the given revision.
func (b *bridge) session(version string) (id string, p *process) {
	b.t.Helper()
	answer := b.later(fmt.Sprintf(initialize, version))
	p = b.process()
	p.heard(b.t)
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"%s"}}`, version))
	resp := <-answer
	if text := body(b.t, resp); resp.StatusCode != http.StatusOK || !strings.Contains(text, version) {
		b.t.Fatalf("initialize: %s %s", resp.Status, text)
	}
	return resp.Header.Get("Mcp-Session-Id"), p
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// events reads the events of a stream one at a time.
type events struct {
	t  *testing.T
	r  *bufio.Reader
	id string // of the last event
}

func newEvents(t *testing.T, resp *http.Response) *events {
	t.Helper()
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Fatalf("content type is %q", ct)
	}
	return &events{t: t, r: bufio.NewReader(resp.Body)}
}

// next returns the data of the next event; comments and empty events are passed
// over. At the end of the stream it returns "EOF".
func (e *events) next() string {
	e.t.Helper()
	for {
		line, err := e.r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return "EOF"
		}
		if err != nil {
			e.t.Fatal(err)
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			e.id = strings.TrimSpace(id)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "\n" {
			return strings.TrimSuffix(data, "\n")
		}
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func isGone(p *process) func() bool {
	return func() bool {
		select {
		case <-p.gone:
			return true
		default:
			return false
		}
	}
}
