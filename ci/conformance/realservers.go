package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// realServer is a released MCP server on stdio, and a call that shows it works.
type realServer struct {
	name      string
	program   string // below node_modules
	folder    bool   // its argument is a folder
	tool      string
	arguments map[string]any
}

var realServers = []realServer{
	{"server-everything 2026.8.31", "@modelcontextprotocol/server-everything/dist/index.js", false, "echo", map[string]any{"message": "héllo"}},
	{"server-filesystem 2026.8.31", "@modelcontextprotocol/server-filesystem/dist/index.js", true, "list_allowed_directories", map[string]any{}},
	{"server-memory 2026.8.31", "@modelcontextprotocol/server-memory/dist/index.js", false, "read_graph", map[string]any{}},
}

// tryVerb is the client of a real server: URL, then tool and arguments as JSON.
const tryVerb = "try"

// exchange is what a server says; direct and bridged it must be the same bytes.
type exchange struct{ Tools, Result json.RawMessage }

// try compares the server direct and through the bridge.
func (s realServer) try(ctx context.Context, tools tools, dir string) tried {
	t := tried{Name: s.name, By: s.tool}
	begin := time.Now()
	if err := s.compare(ctx, tools, dir); err != nil {
		t.Error = strings.ReplaceAll(err.Error(), "\n", " ")
	}
	t.Seconds = time.Since(begin).Seconds()
	return t
}

func (s realServer) compare(ctx context.Context, tools tools, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	command := []string{tools.node, filepath.Join(tools.gatewayModules(), s.program)}
	if s.folder {
		command = append(command, dir)
	}
	direct, err := s.direct(ctx, command)
	if err != nil {
		return fmt.Errorf("direct: %w", err)
	}
	call, err := json.Marshal(map[string]any{"name": s.tool, "arguments": s.arguments})
	if err != nil {
		return err
	}
	out, err := output(ctx, tools, dir, gateways[0], command, self, tryVerb, "{url}", string(call))
	if err != nil {
		return err
	}
	var through exchange
	if err := json.Unmarshal([]byte(out), &through); err != nil {
		return fmt.Errorf("bridged: %w", err)
	}
	if len(direct.Tools) == 0 || !bytes.Equal(direct.Tools, through.Tools) || !bytes.Equal(direct.Result, through.Result) {
		return fmt.Errorf("direct %s %s; bridged %s %s", direct.Tools, direct.Result, through.Tools, through.Result)
	}
	return nil
}

func serverTable(all []tried) string {
	var b strings.Builder
	fmt.Fprint(&b, "\n| server | call | bridged as direct |\n|---|---|---|\n")
	for _, t := range all {
		verdict := "the same"
		if t.Error != "" {
			verdict = "FAILED: " + t.Error
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", t.Name, t.By, verdict)
	}
	return b.String()
}

// try is the exchange over HTTP, on stdout.
func try(ctx context.Context, url, call string) error {
	c := &client{url: url}
	err := c.initialize(ctx)
	if err != nil {
		return err
	}
	var e exchange
	if e.Tools, err = c.call(ctx, "tools/list", struct{}{}); err != nil {
		return err
	}
	if e.Result, err = c.call(ctx, "tools/call", json.RawMessage(call)); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(e)
}

// direct is the same exchange on the server's own stdio.
func (s realServer) direct(ctx context.Context, command []string) (e exchange, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return e, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return e, err
	}
	if err := cmd.Start(); err != nil {
		return e, err
	}
	defer func() {
		_ = in.Close()
		err = errors.Join(err, cmd.Wait())
	}()
	lines := bufio.NewReader(out)
	ask := func(id int, method string, params any) (json.RawMessage, error) {
		if err := json.NewEncoder(in).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
			return nil, err
		}
		c := &client{id: id}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			if result, ours, err := c.answer(line); ours || err != nil {
				return result, err
			}
		}
	}
	if _, err := ask(1, "initialize", initializeParams); err != nil {
		return e, err
	}
	if err := json.NewEncoder(in).Encode(initialized); err != nil {
		return e, err
	}
	if e.Tools, err = ask(2, "tools/list", struct{}{}); err != nil {
		return e, err
	}
	e.Result, err = ask(3, "tools/call", map[string]any{"name": s.tool, "arguments": s.arguments})
	return e, err
}
