package adapter_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/adapter"
)

// pipe connects to the bridge as an agent's stdio child would.
func (b *bridge) pipe() (in *io.PipeWriter, out *bufio.Reader, done chan error, p *process) {
	b.t.Helper()
	dir, err := os.MkdirTemp("", "pipe")
	if err != nil {
		b.t.Fatal(err)
	}
	socket := filepath.Join(dir, "s.sock")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		b.t.Fatal(err)
	}
	s := &http.Server{Handler: adapter.Guard(func(string) bool { return true }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "127.0.0.1"
		b.adapter.ServeHTTP(w, r)
	}))}
	go func() { _ = s.Serve(ln) }()
	inR, in := io.Pipe()
	outR, outW := io.Pipe()
	done = make(chan error, 1)
	ctx, cancel := context.WithCancel(b.t.Context())
	go func() {
		done <- adapter.Pipe(ctx, socket, inR, outW)
		_ = outW.Close()
	}()
	b.t.Cleanup(func() {
		cancel()
		_ = in.Close()
		_ = outR.Close()
		_ = s.Close()
		_ = os.RemoveAll(dir)
	})
	return in, bufio.NewReader(outR), done, b.process()
}

func TestPipe(t *testing.T) {
	b := newBridge(t, adapter.Options{MessageBytes: 1000})
	in, out, done, p := b.pipe()
	send := func(line string) { _, _ = io.WriteString(in, line+"\n") }
	next := func() string {
		t.Helper()
		line, err := out.ReadString('\n')
		if err != nil {
			return err.Error()
		}
		return strings.TrimSuffix(line, "\n")
	}
	for _, line := range []string{
		`{"id":9007199254740993,"method":"m","params":{"z":1e400,"a":[ ]}}`, `{"method":"n"}`, `{"id":"q","result":{}}`,
	} {
		send(line)
		if got := p.heard(t); got != line {
			t.Errorf("the server got %s, want %s", got, line)
		}
	}
	for _, line := range []string{`{"id":9007199254740993,"result":{"n":1e400}}`, `{"method":"notifications/message"}`} {
		p.say(line)
		if got := next(); got != line {
			t.Errorf("the client got %s, want %s", got, line)
		}
	}
	send("noise")
	if got := next(); !strings.Contains(got, "not JSON") {
		t.Errorf("noise was answered %s", got)
	}
	send(`{"method":"` + strings.Repeat("x", 1000) + `"}`)
	if got := next(); !strings.Contains(got, "longer") {
		t.Errorf("a long line was answered %s", got)
	}
	send(`{"id":1,"method":"server/discover"}`) // this server is older and might never answer
	if got := next(); !strings.Contains(got, `"id":1`) || !strings.Contains(got, "-32601") {
		t.Errorf("server/discover was answered %s", got)
	}
	send(`{"id":2,"method":"m"}`)
	send(`{"id":2,"method":"m"}`)
	if got := next(); !strings.Contains(got, `"id":2`) || !strings.Contains(got, "in use") {
		t.Errorf("an id in use was answered %s", got)
	}
	p.heard(t)
	_ = p.out.Close()
	if got := next(); !strings.Contains(got, `"id":2`) || !strings.Contains(got, "code 3") {
		t.Errorf("the caller of a dead server got %s", got)
	}
	if got := next(); got != "EOF" {
		t.Errorf("after the end came %s", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestEndOfThePipeEndsTheProcess(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	in, out, done, p := b.pipe()
	_ = in.Close()
	eventually(t, "the process goes on", isGone(p))
	if _, err := out.ReadByte(); !errors.Is(err, io.EOF) || <-done != nil {
		t.Errorf("the client's side: %v", err)
	}
	_, out, done, p = b.pipe()
	p.say(`{"method":"n"}`)
	if _, err := out.ReadString('\n'); err != nil { // it stands
		t.Fatal(err)
	}
	b.adapter.Close()
	if err := <-done; err != nil || !isGone(p)() {
		t.Errorf("after Close: %v", err)
	}
}

func TestPipeThatIsRefused(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	resp, err := b.http.Get(strings.TrimSuffix(b.url, "/mcp") + "/stdio")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("without an upgrade: %s", resp.Status)
	}
	if err := adapter.Pipe(t.Context(), "/nonexistent.sock", strings.NewReader(""), io.Discard); err == nil {
		t.Error("a socket that is not there was connected to")
	}
}

func TestLifetimeOfASession(t *testing.T) {
	b := newBridge(t, adapter.Options{Lifetime: 50 * time.Millisecond})
	id, p := b.session("2025-11-25")
	e := newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", id)) // busy all the time
	if got := e.next(); got != "EOF" || !isGone(p)() {
		eventually(t, "the process goes on", isGone(p))
	}
}
