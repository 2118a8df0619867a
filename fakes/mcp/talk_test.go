package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	fake "bridgecheck/fakes/mcp"
)

func TestAsksAndNotifies(t *testing.T) {
	p := start(t)
	p.say(1, "initialize", strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"sampling":{},"elicitation":{},"roots":{}}`, 1))
	p.answer()
	_, _ = io.WriteString(p.stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	for what, answer := range map[string]string{
		"sampling":    `{"role":"assistant","content":{"type":"text","text":"said"},"model":"m"}`,
		"elicitation": `{"action":"accept","content":{"name":"said"}}`,
		"roots":       `{"roots":[{"uri":"file:///said"}]}`,
	} {
		p.call(2, "ask", fmt.Sprintf(`{"what":%q}`, what))
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if line := p.answer(); json.Unmarshal([]byte(line), &request) != nil || request.Method == "" {
			t.Fatalf("%s: no request but %s", what, line)
		}
		_, _ = fmt.Fprintf(p.stdin, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, answer)
		if got := p.answer(); !strings.Contains(got, "said") || strings.Contains(got, "isError") {
			t.Errorf("%s: %s", what, got)
		}
	}
	p.say(3, "tools/call", `{"name":"notify","arguments":{},"_meta":{"progressToken":"t"}}`)
	for _, want := range append(fake.Notified, "notified") {
		if got := p.answer(); !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestRawIsTokenForToken(t *testing.T) {
	p := start(t)
	p.say(7, fake.RawMethod, `{"n":9007199254740993,"b":1,"a":1.0}`)
	got := p.answer()
	if !strings.Contains(got, fake.Exact) || !strings.Contains(got, `{\"n\":9007199254740993,\"b\":1,\"a\":1.0}`) {
		t.Errorf("%s", got)
	}
}

func TestFollowsAScript(t *testing.T) {
	p, folder := start(t), t.TempDir()
	p.say(7, fake.ScriptMethod, `{"_meta":{"progressToken":"tok"},"steps":[`+
		`{"say":"{\"id\":$ID,\"token\":$TOKEN,\"n\":1.0}"},{"hear":"\"q\""},{"say":"x","times":2},`+
		`{"stderr":"a line"},{"gather":"`+folder+`","times":1}],"bytes":5000}`)
	for _, want := range []string{`{"id":7,"token":"tok","n":1.0}`, "x", "x"} {
		if got := p.answer(); got != want {
			t.Errorf("said %s, want %s", got, want)
		}
		if want[0] == '{' {
			_, _ = io.WriteString(p.stdin, `{"jsonrpc":"2.0","id":"q","result":{"b":1,"a":2}}`+"\n")
		}
	}
	got := p.answer()
	if len(got) != 5000 || !strings.Contains(got, `"heard":["{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"b\":1,\"a\":2}}"]`) {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
	p.say(8, fake.ScriptMethod, `{"steps":[{"flood":100000},{"exit":9}]}`)
	if code := exitCode(p.wait()); code != 9 || p.stderr.Len() < 100000 {
		t.Errorf("code %d, %d bytes of stderr", code, p.stderr.Len())
	}
}

func TestChunksAndLineEnds(t *testing.T) {
	p := start(t, "--chunk", "1", "--crlf")
	p.call(1, "echo", `{"text":"é𝄞"}`)
	if got := p.answer(); !strings.Contains(got, "é𝄞") { // the scanner takes the CR away
		t.Errorf("%q", got)
	}
}

func TestServesHTTP(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hello + `}`
	for _, c := range []struct{ network, address, era, want string }{
		{"tcp", "127.0.0.1:0", "both", `"protocolVersion":"2025-11-25"`},
		{"tcp", "127.0.0.1:0", "modern", "-32601"},
		{"unix", "unix:" + filepath.Join(t.TempDir(), "s"), "both", `"protocolVersion":"2025-11-25"`},
	} {
		log := filepath.Join(t.TempDir(), "log")
		p := start(t, "--http", c.address, "--announce", log, "--era", c.era)
		address := listening(t, log)
		conn, err := net.Dial(c.network, address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		if !strings.Contains(string(answer), c.want) {
			t.Errorf("%s, %s: %s", c.network, c.era, answer)
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		if err := p.wait(); err != nil {
			t.Errorf("SIGTERM: %v", err)
		}
	}
}

func TestMuteOverHTTP(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	start(t, "--http", "127.0.0.1:0", "--announce", log, "--mute")
	conn, err := net.Dial("tcp", listening(t, log))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	_ = conn.(*net.TCPConn).CloseWrite() // its wait ends with its client
	if answer, _ := io.ReadAll(conn); strings.Contains(string(answer), "jsonrpc") {
		t.Errorf("a mute server said %s", answer)
	}
}

// listening waits for the announcement of the address.
func listening(t *testing.T, log string) string {
	t.Helper()
	for deadline := time.Now().Add(waitCap); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(log)
		for line := range strings.Lines(string(text)) {
			if address, found := strings.CutPrefix(line, "listening "); found && strings.HasSuffix(line, "\n") {
				return strings.TrimSpace(address)
			}
		}
	}
	t.Fatal("the server does not listen")
	return ""
}
