package mcp_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	fake "bridgecheck/fakes/mcp"
	"bridgecheck/fakes/process"
)

// asServer makes the test binary a server, so that no other has to be built.
const asServer = "BRIDGECHECK_TEST_FAKEMCP"

func TestMain(m *testing.M) {
	if process.Helper(os.Args) {
		return
	}
	if os.Getenv(asServer) != "" {
		options, err := fake.Parse(os.Args[1:], os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(fake.Run(options))
	}
	os.Exit(m.Run())
}

// peer is one running server and the lines it writes.
type peer struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan string
	stderr bytes.Buffer
	ended  chan error
}

// waitCap is how long a test waits for what must come.
const waitCap = 10 * time.Second

func start(t *testing.T, args ...string) *peer {
	t.Helper()
	p := &peer{t: t, cmd: exec.Command(os.Args[0], args...), lines: make(chan string, 1000), ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), asServer+"=1", "FAKE_SECRET=s3",
		"GORACE=atexit_sleep_ms=0") // or each exit takes a second
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = waitCap
	p.stdin, _ = p.cmd.StdinPipe()
	stdout, _ := p.cmd.StdoutPipe()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		scanner := bufio.NewScanner(stdout)
		for scanner.Scan() {
			select {
			case p.lines <- scanner.Text():
			default: // garbage without end fills it
			}
		}
		close(p.lines)
		p.ended <- p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.stdin.Close()
	})
	return p
}

func (p *peer) say(id int, method, params string) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.stdin, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		p.t.Fatal(err)
	}
}

// answer is the next line, or "" when the server closed its output.
func (p *peer) answer() string {
	p.t.Helper()
	select {
	case line := <-p.lines:
		return line
	case <-time.After(waitCap):
		p.t.Fatalf("no answer; stderr: %s", p.stderr.String())
		return ""
	}
}

func (p *peer) wait() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(waitCap):
		p.t.Fatal("the server did not end")
		return nil
	}
}

func (p *peer) call(id int, tool, arguments string) {
	p.say(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

const (
	hello    = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`
	discover = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`
)

func exitCode(err error) int {
	if exit, found := errors.AsType[*exec.ExitError](err); found {
		return exit.ExitCode()
	}
	return 0
}
