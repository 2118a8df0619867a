package kit

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
)

// HTTPServer starts a fake MCP server that speaks HTTP itself, on a loopback
// port of the lab, and returns its URL: what a client meets without a bridge.
func (t *T) HTTPServer(ctx context.Context, name string, flags ...string) string {
	ginkgo.GinkgoHelper()
	cmd := exec.Command(t.run.cfg.FakeMCP, append([]string{
		"--name", name, "--announce", t.announcements(name), "--http", "127.0.0.1:0",
	}, flags...)...)
	stderr := &tail{}
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = t.dir(), baseEnv(t.dir()), stderr, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal("start MCP server: %v", err)
	}
	t.mu.Lock()
	t.pids[cmd.Process.Pid] = true
	t.mu.Unlock()
	ginkgo.DeferCleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed on purpose
	})
	address := ""
	t.Await(ctx, "the MCP server "+name+" listens", func() bool {
		for _, line := range t.Announced(name) {
			address = strings.TrimPrefix(line, "listening ")
			if address != line {
				return true
			}
		}
		return false
	})
	return "http://" + address + "/mcp"
}
