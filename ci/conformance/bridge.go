package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The parts of the contract's specification that are used here.
type (
	spec struct {
		Servers []server   `json:"servers"`
		Agent   agent      `json:"agent"`
		Paths   paths      `json:"paths"`
		Model   *modelSpec `json:"model,omitempty"`
		Network string     `json:"network,omitempty"`
	}
	modelSpec struct {
		URL        string `json:"url"`
		Credential string `json:"credential"`
	}
	server struct {
		Name           string   `json:"name"`
		Kind           string   `json:"kind,omitempty"`
		Placement      string   `json:"placement"`
		Command        string   `json:"command,omitempty"`
		Args           []string `json:"args,omitempty"`
		URL            string   `json:"url,omitempty"`
		Transports     []string `json:"transports,omitempty"`
		Port           int      `json:"port"`
		StartTimeoutMS int      `json:"start_timeout_ms,omitempty"`
	}
	agent struct {
		Path       string            `json:"path"`
		Args       []string          `json:"args"`
		Env        map[string]string `json:"env,omitempty"`
		Cwd        string            `json:"cwd,omitempty"`
		Transports []string          `json:"transports,omitempty"`
	}
	paths struct {
		RO []string `json:"ro"`
		RW []string `json:"rw"`
	}
)

// conf is the server under test, over stdio or at a URL of the host.
func conf(tools tools, url string) server {
	if url == "" {
		return server{Name: "conf", Placement: "host", Command: tools.server, Port: 18090}
	}
	return server{Name: "conf", Kind: "http", Placement: "host", URL: url, Port: 18090}
}

// bridge is the subject's `run` with the specification, written beside the results.
func bridge(ctx context.Context, tools tools, dir string, s spec) (*exec.Cmd, error) {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, "spec-*.json")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Write(data); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tools.subject, "run", "--spec", file.Name())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends what it started
	cmd.WaitDelay = 10 * time.Second
	return cmd, nil
}

// insideVerb makes this program the client that the suite starts: it gets the
// URL of the suite's server, and puts the real client into the sandbox.
const insideVerb = "inside"

// inside runs the client of the go-sdk as the agent; it returns the exit code.
func inside(ctx context.Context, tools tools, dir, door, url string) (int, error) {
	env := map[string]string{}
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "MCP_CONFORMANCE_") {
			env[name] = value
		}
	}
	cmd, err := bridge(ctx, tools, dir, spec{
		Servers: []server{conf(tools, url)},
		Agent:   agent{Path: tools.client, Args: []string{door}, Env: env},
		Paths:   paths{RO: []string{filepath.Dir(tools.client)}},
	})
	if err != nil {
		return 0, err
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		return 0, fmt.Errorf("run the bridge: %w", err)
	}
	return cmd.ProcessState.ExitCode(), nil
}
