package ref_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"bridgecheck/ref/adapter"
)

// serverName is what an answer to initialize says, and "" for any other text.
func serverName(text string) string {
	_, rest, _ := strings.Cut(text, `"serverInfo":{"name":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// ask does one thing at a door, for an agent in the sandbox, and says what came of it.
func ask(what string) string {
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "unix":
		return said(http.MethodPost, "http://localhost/mcp", initialize, overUnix(os.Getenv(rest)))
	case "sse":
		return overSSE(rest)
	case "stdio":
		return overStdio(os.Getenv(rest))
	case "environment":
		return strings.Join(os.Environ(), "\n")
	case "stream":
		return stream(rest)
	case "get":
		return said(http.MethodGet, rest, "", http.DefaultTransport)
	case "trace":
		return said(http.MethodTrace, rest, "", http.DefaultTransport)
	case "tamper":
		socket := os.Getenv(rest)
		_, err := os.Create(filepath.Join(filepath.Dir(socket), "x"))
		if os.Remove(socket) != nil && err != nil {
			return "cannot"
		}
		return "can"
	case "list":
		entries, err := os.ReadDir(filepath.Dir(filepath.Dir(os.Getenv(rest))))
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return fmt.Sprint(names, err)
	}
	return "unknown"
}

func overUnix(path string) http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
}

// said is status and server name, or the body where no server answers. A header
// stands behind the URL, as "|Name: value".
func said(method, target, body string, by http.RoundTripper) string {
	parts := strings.Split(target, "|")
	r, err := http.NewRequest(method, os.ExpandEnv(parts[0]), strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, field := range parts[1:] {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, os.ExpandEnv(value))
	}
	answer, err := by.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Sprint(answer.StatusCode, " cut after ", len(text))
	}
	if name := serverName(string(text)); name != "" {
		text = []byte(name)
	}
	return fmt.Sprintf("%d %s", answer.StatusCode, bytes.TrimSpace(text))
}

// stream asks for the next piece when it has the one before.
func stream(base string) (got string) {
	next := func() {
		if answer, err := http.Get(base + "/next"); err == nil {
			_ = answer.Body.Close()
		}
	}
	next()
	answer, err := http.Get(base + "/stream")
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	piece := make([]byte, 1)
	for {
		if n, err := answer.Body.Read(piece); n == 0 || err != nil {
			return got + string(piece[:n])
		}
		got += string(piece)
		next()
	}
}

// overSSE opens the stream, follows the endpoint it names, and reads the answer.
func overSSE(door string) string {
	stream, err := http.Get(door)
	if err != nil {
		return err.Error()
	}
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		return fmt.Sprint(stream.StatusCode)
	}
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue
		}
		if name := serverName(data); name != "" {
			return name
		}
		to, err := stream.Request.URL.Parse(data)
		if err != nil {
			return err.Error()
		}
		if got := said(http.MethodPost, to.String(), initialize, http.DefaultTransport); got != "202 " {
			return got
		}
	}
	return "no answer"
}

// overStdio starts the command as an agent does, with no environment at all.
func overStdio(command string) string {
	var args []string
	if err := json.Unmarshal([]byte(command), &args); err != nil {
		return err.Error()
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"GORACE=atexit_sleep_ms=0"}
	cmd.Stdin = strings.NewReader(initialize + "\n")
	out, err := cmd.Output()
	return fmt.Sprint(serverName(string(out)), err)
}

// stdio is what the program of the bridge offers under the same arguments.
func stdio(args []string) int {
	if err := adapter.Pipe(context.Background(), args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
