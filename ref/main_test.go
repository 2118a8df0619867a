package ref_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref"
	"bridgecheck/ref/sandbox/external"
)

// The roles of this binary besides the bridge's own: the agent and the server
// of the tests.
func TestMain(m *testing.M) {
	external.Main(func(args []string) external.Backend { return backend(args) })
	ref.Main()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "fake-agent":
			os.Exit(fakeAgent(os.Args[2:]))
		case "fake-server":
			os.Exit(fakeServer(os.Args[2:]))
		case "fake-limited":
			os.Exit(fakeLimited(os.Args[2], os.Args[3]))
		case "stdio":
			os.Exit(stdio(os.Args[2:]))
		case "fake-bridge":
			os.Exit(fakeBridge(os.Args[2]))
		}
	}
	goleak.VerifyTestMain(m)
}

// fakeAgent does the one thing it is told.
func fakeAgent(args []string) int {
	switch args[0] {
	case "exit":
		code := 0
		fmt.Sscan(args[1], &code)
		return code
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "env":
		_ = json.NewEncoder(os.Stdout).Encode(os.Environ())
	case "copy":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "to stderr")
	case "flood":
		return flood()
	case "call":
		for _, url := range args[1:] {
			fmt.Println(call(url))
		}
	case "ask":
		for _, what := range args[1:] {
			fmt.Println(ask(what))
		}
	case "wait":
		fmt.Println("waiting")
		<-time.After(time.Hour) // not select {}: without cgo that is a deadlock to the runtime
	case "refuse":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("waiting")
		<-time.After(time.Hour) // not select {}: without cgo that is a deadlock to the runtime
	case "trap":
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		fmt.Println("waiting")
		<-told
		return 3
	}
	return 0
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// call sends initialize to a door, with the token of the environment if its
// URL is followed by one, and gives status and server name.
func call(door string) string {
	url, token, _ := strings.Cut(door, "#")
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(initialize))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+os.Getenv(token))
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, serverName(string(body))))
}

// fakeServer answers every request with its name; "mute" never answers and
// "die" ends at once.
func fakeServer(args []string) int {
	switch args[0] {
	case "die":
		fmt.Fprintln(os.Stderr, "no licence found")
		return 3
	case "mute":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	lines := bufio.NewScanner(os.Stdin)
	for answered := 0; lines.Scan(); answered++ {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if args[0] == "hang" && m.Method == "ping" && answered >= 3 {
			continue
		}
		if m.Method == "server/discover" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", m.ID)
			continue
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"%s","version":"1"}}}`+"\n", m.ID, args[0])
	}
	return 0
}
