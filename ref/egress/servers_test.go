package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestHostInsideATunnelIsTheServersToJudge: MCP-012.host-connect.
func TestHostInsideATunnelIsTheServersToJudge(t *testing.T) {
	l, _ := serverLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }))
	for target, want := range map[string]string{"/": "evil.example", "http://jira/": "jira"} {
		c := l.dial()
		c.connect("jira:80")
		c.send("GET " + target + " HTTP/1.1\r\nHost: evil.example\r\n\r\n")
		if _, body := c.response("GET"); body != want {
			t.Errorf("%s: the server sees host %q, want %q", target, body, want)
		}
	}
}

func TestTunnelToServerIsForItAlone(t *testing.T) {
	l, _ := serverLab(t, hello("jira"))
	for request, want := range map[string]int{
		"GET http://jira/x HTTP/1.1\r\nHost: jira\r\n\r\n":            200,
		"GET http://other.test/x HTTP/1.1\r\nHost: jira\r\n\r\n":      400,
		"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test\r\n\r\n": 400,
		"\x16\x03\x01": 400,
	} {
		c := l.dial()
		c.connect("jira:80")
		c.send(request)
		if res, _ := c.response("GET"); res.StatusCode != want {
			t.Errorf("%q: %s", request, res.Status)
		}
	}
}

// Close ends what runs and waits for it; Shutdown lets it end first.
func TestShutdownAndClose(t *testing.T) {
	started := make(chan struct{}, 1)
	release := make(chan struct{})
	far := newFar(t, echo)
	fresh := func() *lab {
		l := newLab(t, Config{
			Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil),
			Virtual: map[Authority]VirtualServer{mustAuthority(t, "jira:80"): {"jira", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				started <- struct{}{}
				select {
				case <-r.Context().Done():
				case <-release:
					io.WriteString(w, "done")
				}
			})}},
		})
		l.dns.set("far.test", "127.0.0.1")
		return l
	}
	open := func(l *lab) (waiting, tunnelled *client) {
		tunnelled = l.dial()
		tunnelled.connect(target("far.test", far.port))
		waiting = l.dial()
		waiting.send("GET http://jira/ HTTP/1.1\r\nHost: jira\r\nConnection: close\r\n\r\n")
		<-started
		return waiting, tunnelled
	}

	l := fresh()
	waiting, tunnelled := open(l)
	idle := l.dial()
	l.proxy.Close()
	for _, c := range []*client{waiting, tunnelled, idle} {
		if _, err := c.r.ReadByte(); err == nil {
			t.Error("a connection lives on after Close")
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.proxy.Serve(ln); err != nil {
		t.Errorf("Serve after Close: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve after Close leaves its listener open: %v", err)
	}

	l = fresh()
	waiting, tunnelled = open(l)
	done := make(chan error, 1)
	go func() { done <- l.proxy.Shutdown(t.Context()) }()
	release <- struct{}{}
	if _, body := waiting.response("GET"); body != "done" {
		t.Errorf("during Shutdown: %q", body)
	}
	waiting.Close()
	tunnelled.Close()
	if err := <-done; err != nil {
		t.Errorf("Shutdown: %v", err)
	}

	l = fresh()
	open(l)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.proxy.Shutdown(ctx); err == nil {
		t.Error("Shutdown says that all ended by itself")
	}
}
