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

// tryServers compares each server direct and through the bridge.
func tryServers(ctx context.Context, tools tools, results string) (text string, red bool, err error) {
	var b strings.Builder
	fmt.Fprint(&b, "| server | tools | call | bridged as direct |\n|---|---|---|---|\n")
	self, err := os.Executable()
	if err != nil {
		return "", false, err
	}
	for i, s := range realServers {
		dir := filepath.Join(results, "servers", fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", false, err
		}
		command := []string{tools.node, filepath.Join(tools.build, "npm/gateways/node_modules", s.program)}
		if s.folder {
			command = append(command, dir)
		}
		direct, err := s.direct(ctx, command)
		if err != nil {
			return "", false, fmt.Errorf("%s, direct: %w", s.name, err)
		}
		call, err := json.Marshal(map[string]any{"name": s.tool, "arguments": s.arguments})
		if err != nil {
			return "", false, err
		}
		verdict := "the same"
		var through exchange
		out, err := output(ctx, tools, dir, gateways[0], command, self, tryVerb, "{url}", string(call))
		if err == nil {
			err = json.Unmarshal([]byte(out), &through)
		}
		if err == nil && (!bytes.Equal(direct.Tools, through.Tools) || !bytes.Equal(direct.Result, through.Result)) {
			err = fmt.Errorf("direct %s %s; bridged %s %s", direct.Tools, direct.Result, through.Tools, through.Result)
		}
		if err != nil {
			red, verdict = true, "FAILED: "+strings.ReplaceAll(err.Error(), "\n", " ")
		}
		var list struct{ Tools []json.RawMessage }
		_ = json.Unmarshal(direct.Tools, &list)
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", s.name, len(list.Tools), s.tool, verdict)
	}
	return b.String(), red, nil
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
