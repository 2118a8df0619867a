package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// fake is an MCP server on stdio, written on raw JSON so that it shares nothing
// with what it tests. FAKE holds words that say how it behaves.
type fake struct {
	words map[string]bool
	mu    sync.Mutex
	wait  map[string]chan json.RawMessage // its own requests
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func fakeMain() {
	f := &fake{words: map[string]bool{}, wait: map[string]chan json.RawMessage{}}
	for w := range strings.FieldsSeq(os.Getenv("FAKE")) {
		f.words[w] = true
	}
	// Without a timer and without cgo the runtime takes a server that hangs for a
	// deadlock, and ends it.
	time.AfterFunc(time.Hour, func() { syscall.Exit(1) })
	f.begin()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line, &m) == nil {
			f.handle(m)
		}
	}
	if f.words["ignore-eof"] {
		select {}
	}
	syscall.Exit(0)
}

// begin does what the words ask for before the first message.
func (f *fake) begin() {
	switch w := f.words; {
	case w["exit-early"]:
		for n := range 25 {
			fmt.Fprintf(os.Stderr, "line %d\n", n)
		}
		syscall.Exit(9)
	case w["tell-token"]:
		fmt.Printf("token %s\n", os.Getenv("TOKEN"))
		fmt.Fprintf(os.Stderr, "key:%s;\n", os.Getenv("TOKEN"))
		if w["exit"] {
			syscall.Exit(9)
		}
	case w["garbage"]:
		for {
			fmt.Println("this is a log line, not a message")
		}
	case w["banner"]:
		fmt.Println("Welcome to the server!\n\n[\"not a message\"]\n{}")
	case w["flood-stderr"]:
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 1<<20))
	case w["slow"]:
		time.Sleep(1300 * time.Millisecond)
	case w["children"]:
		c := exec.Command("/bin/sh", "-c", `exec 9<"$MARKER"; sleep 300 & (setsid sleep 300 &) & sleep 300`)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr // they hold the pipes
		if err := c.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
	}
	if f.words["ignore-term"] {
		signal.Ignore(syscall.SIGTERM)
	}
}

func (f *fake) send(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

func (f *fake) result(m message, result string) {
	f.send(`{"jsonrpc":"2.0","result":%s,"id":%s}`, result, m.ID)
}

func (f *fake) handle(m message) {
	if f.words["mute"] {
		return
	}
	switch m.Method {
	case "":
		f.mu.Lock()
		if c := f.wait[string(m.ID)]; c != nil {
			c <- append(m.Result, m.Error...)
		}
		f.mu.Unlock()
	case "ping":
		f.result(m, "{}")
	case "server/discover":
		f.discover(m)
	case "initialize":
		var p struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &p)
		f.result(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"%d"}}`,
			p.ProtocolVersion, os.Getpid()))
	case "tools/call":
		go f.call(m)
	default:
		if m.ID != nil {
			f.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}
	}
}

func (f *fake) discover(m message) {
	switch w := f.words; {
	case w["modern"]:
		f.result(m, `{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}}}`)
	case w["discover-ignored"]:
	case w["discover-dies"]:
		syscall.Exit(5)
	case w["discover-hangs"]:
		select {}
	case w["discover-floods"]:
		fmt.Fprintln(os.Stderr, strings.Repeat("Traceback ", 200_000))
	case w["discover-garbage"]:
		for range 5000 {
			fmt.Println("Traceback (most recent call last):")
		}
	default:
		f.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

func (f *fake) call(m message) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	switch p.Name {
	case "echo":
		f.result(m, fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}],"echo":%s}`, os.Getpid(), m.Params))
	case "slow":
		time.Sleep(150 * time.Millisecond)
		f.result(m, fmt.Sprintf(`{"echo":%s}`, m.Params))
	case "die":
		syscall.Exit(3)
	case "hang": // this call only
	case "hang-all":
		f.mu.Lock()
	case "big":
		f.result(m, fmt.Sprintf(`{"text":%q}`, strings.Repeat("y", 1<<20)))
	case "progress":
		for n := range 3 {
			f.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, p.Meta.ProgressToken, n)
		}
		f.result(m, `{"done":true}`)
	case "ask":
		f.ask(m)
	case "env":
		all, _ := json.Marshal(os.Environ())
		f.result(m, string(all))
	}
}

// ask sends the client a request and gives its answer back as the result.
func (f *fake) ask(m message) {
	answer := make(chan json.RawMessage, 1)
	f.mu.Lock()
	f.wait["1"] = answer
	f.mu.Unlock()
	f.send(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"maxTokens":1}}`)
	f.result(m, fmt.Sprintf(`{"answer":%s}`, <-answer))
}
