package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"bridgecheck/ref/mcpserver"
)

const benchCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`

// BenchmarkCallDirect is the same server over its own stdio, to compare with.
func BenchmarkCallDirect(b *testing.B) {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "FAKE=fake")
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	r := bufio.NewReader(out)
	for n := 0; b.Loop(); n++ {
		fmt.Fprintf(in, benchCall+"\n", n)
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	_ = in.Close()
	_ = c.Wait()
}

// BenchmarkCall goes through the socket, in a session and without one.
func BenchmarkCall(b *testing.B) {
	for _, words := range []string{"session", "modern"} {
		b.Run(words, func(b *testing.B) {
			dir := privateDir(b)
			m := mcpserver.New(mcpserver.Options{Dir: dir})
			defer func() { _ = m.StopAll() }()
			socket, err := m.Start(b.Context(), "s", config(b, words))
			if err != nil {
				b.Fatal(err)
			}
			c := httpClient(b, socket)
			id, headers := "", []string(nil)
			call := benchCall
			if words == "modern" {
				call = strings.Replace(stateless(`"id":%d,"method":"tools/call"`, `"name":"echo"`), "%!", "%", 1)
				headers = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}
			} else {
				id = session(b, socket)
			}
			for n := 0; b.Loop(); n++ {
				resp, err := do(c, id, fmt.Sprintf(call, n), headers...)
				if err != nil || resp.StatusCode != 200 {
					b.Fatal(resp, err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
}

// BenchmarkStartStop is one server up and down; the time of n is n times that
// of one.
func BenchmarkStartStop(b *testing.B) {
	dir := privateDir(b)
	m := mcpserver.New(mcpserver.Options{Dir: dir})
	for b.Loop() {
		if _, err := m.Start(b.Context(), "s", config(b, "")); err != nil {
			b.Fatal(err)
		}
		if err := m.Stop("s"); err != nil {
			b.Fatal(err)
		}
	}
}
