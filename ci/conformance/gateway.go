package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// gateway makes a stdio server reachable over HTTP. Without a command it is the
// bridge, whose client is the agent in the sandbox.
type gateway struct {
	name    string
	command func(modules string, server []string, port string) []string
	// carries makes a server that speaks HTTP reachable over stdio, the other way
	// round: it is measured as what the bridge starts.
	carries func(modules, url string) []string
}

var gateways = []gateway{
	{name: "refbridge"},
	{name: "supergateway 4.0.0", command: func(modules string, server []string, port string) []string {
		return []string{
			filepath.Join(modules, "supergateway/dist/index.js"), "--stdio", strings.Join(server, " "),
			"--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none",
		}
	}},
	{name: "mcp-proxy 6.7.19", command: func(modules string, server []string, port string) []string {
		return append([]string{
			filepath.Join(modules, "mcp-proxy/dist/bin/mcp-proxy.mjs"),
			"--host", "127.0.0.1", "--port", port, "--server", "stream", "--",
		}, server...)
	}},
	{name: "refbridge and mcp-remote 0.15.1", carries: func(modules, url string) []string {
		return []string{filepath.Join(modules, "mcp-remote/dist/proxy.js"), url, "--allow-http", "--transport", "http-only"}
	}},
}

// session is a gateway with a program beside it that uses it.
type session struct {
	program *exec.Cmd
	root    int // process whose descendants are the gateway
	stop    func()
}

// start starts the gateway before the server and makes, not yet started, the
// program that is given its URL in place of {url}.
func (g gateway) start(ctx context.Context, tools tools, dir string, server, program []string) (*session, error) {
	switch {
	case g.carries != nil:
		return g.carried(ctx, tools, dir, server, program)
	case g.command == nil:
		return bridged(ctx, tools, dir, server, program)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	log, err := os.OpenFile(filepath.Join(dir, "gateway.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	modules := tools.gatewayModules()
	cmd := exec.CommandContext(ctx, tools.node, g.command(modules, server, port)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
	if err := listens(ctx, "127.0.0.1:"+port); err != nil {
		stop()
		return nil, fmt.Errorf("%s: %w; see %s", g.name, err, log.Name())
	}
	args := fill(program, "http://127.0.0.1:"+port+"/mcp")
	return &session{exec.CommandContext(ctx, args[0], args[1:]...), cmd.Process.Pid, stop}, nil
}

// carried starts the server with HTTP, and the bridge before what carries it.
func (g gateway) carried(ctx context.Context, tools tools, dir string, server, program []string) (*session, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := slices.Concat(server[1:], []string{"--http", address}) // both fakes know it so
	cmd := exec.CommandContext(ctx, server[0], args...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	waiting, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = listens(waiting, address) // one that never does is for the client to find out
	command := append([]string{tools.node}, g.carries(tools.gatewayModules(), "http://"+address+"/mcp")...)
	s, err := bridged(ctx, tools, dir, command, program)
	if err != nil {
		stop()
		return nil, err
	}
	s.stop = stop
	return s, nil
}

func bridged(ctx context.Context, tools tools, dir string, command, program []string) (*session, error) {
	args := fill(program, doors[0].url)
	behind := conf(tools, "")
	behind.Command, behind.Args, behind.StartTimeoutMS = command[0], command[1:], int(patience/time.Millisecond)
	cmd, err := bridge(ctx, tools, dir, spec{
		Servers: []server{behind},
		Agent:   agent{Path: args[0], Args: args[1:]},
		Paths:   paths{RO: []string{tools.build, filepath.Dir(args[0])}, RW: []string{dir}},
	})
	if err != nil {
		return nil, err
	}
	return &session{cmd, 0, func() {}}, nil
}

func fill(program []string, url string) []string {
	args := make([]string, len(program))
	for i, arg := range program {
		args[i] = strings.ReplaceAll(arg, "{url}", url)
	}
	return args
}

// freeAddress is one of loopback that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (t tools) gatewayModules() string { return filepath.Join(t.build, "npm/gateways/node_modules") }

// listens waits until something accepts at the address.
func listens(ctx context.Context, address string) error {
	for {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing listens on %s: %w", address, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// memory is the proportional set size of a process and its descendants in KiB,
// without those that run the program of the path: the measuring client.
func memory(root int, without string) (kib int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	for next := []int{root}; len(next) > 0; {
		pid := next[0]
		next = append(next[1:], children[pid]...)
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe != without {
			kib += pss(pid)
		}
	}
	return kib
}

func pss(pid int) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kib
		}
	}
	return 0
}
