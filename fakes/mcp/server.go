package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"bridgecheck/fakes/process"
)

// WhoAmI is what the tool whoami tells, as JSON.
type WhoAmI struct {
	PID   int    `json:"pid"`
	Name  string `json:"name"`
	Nonce string `json:"nonce"`
	// NetNS is the link of the own network namespace, net:[INODE].
	NetNS string `json:"netns"`
}

// newServer builds the server with its tools:
//
//	echo {text}   the text
//	whoami {}     WhoAmI
//	env {name}    that variable of the server's environment
//	sleep {ms}    waits, then "slept"; ends early when the call is cancelled
//	die {}        ends the process in the middle of the call
//	ask {what}    asks the client (sampling, elicitation or roots), returns its answer
//	notify {}     sends every kind of notification, then "notified"
func newServer(o Options, notify notifier) *server.MCPServer {
	s := server.NewMCPServer(o.Name, "1", server.WithToolCapabilities(true), server.WithLogging(),
		server.WithElicitation(), server.WithRoots())
	s.EnableSampling() // deprecated in 2026-07-28, yet agents of before have it
	s.AddTool(protocol.NewTool("echo", protocol.WithDescription("returns its text"),
		protocol.WithString("text", protocol.Required())), echo)
	s.AddTool(protocol.NewTool("whoami", protocol.WithDescription("tells which process answers")), o.whoAmI)
	s.AddTool(protocol.NewTool("env", protocol.WithDescription("returns a variable of the environment"),
		protocol.WithString("name", protocol.Required())), environment)
	s.AddTool(protocol.NewTool("sleep", protocol.WithDescription("waits some milliseconds"),
		protocol.WithNumber("ms", protocol.Required())), sleep)
	s.AddTool(protocol.NewTool("die", protocol.WithDescription("ends the server in mid-call")), o.die)
	s.AddTool(protocol.NewTool("ask", protocol.WithDescription("asks the client something"),
		protocol.WithString("what", protocol.Required(), protocol.Enum(askSampling, askElicitation, askRoots))), ask)
	s.AddTool(protocol.NewTool("notify", protocol.WithDescription("sends notifications")), notify.all)
	return s
}

func echo(_ context.Context, request protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	text, err := request.RequireString("text")
	if err != nil {
		return protocol.NewToolResultError(err.Error()), nil
	}
	return protocol.NewToolResultText(text), nil
}

func (o Options) whoAmI(context.Context, protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	namespace, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return protocol.NewToolResultError(err.Error()), nil
	}
	text, err := json.Marshal(WhoAmI{PID: os.Getpid(), Name: o.Name, Nonce: o.Nonce, NetNS: namespace})
	if err != nil {
		return nil, err
	}
	return protocol.NewToolResultText(string(text)), nil
}

func environment(_ context.Context, request protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	name, err := request.RequireString("name")
	if err != nil {
		return protocol.NewToolResultError(err.Error()), nil
	}
	value, found := os.LookupEnv(name)
	if !found {
		return protocol.NewToolResultError("not set: " + name), nil
	}
	return protocol.NewToolResultText(value), nil
}

func sleep(ctx context.Context, request protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	milliseconds, err := request.RequireFloat("ms")
	if err != nil {
		return protocol.NewToolResultError(err.Error()), nil
	}
	select {
	case <-time.After(time.Duration(milliseconds * float64(time.Millisecond))):
		return protocol.NewToolResultText("slept"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (o Options) die(context.Context, protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	fmt.Fprintf(os.Stderr, "%s: dying in the middle of a call\n", o.Name)
	if o.Signal != 0 {
		process.Die(o.Signal)
	}
	os.Exit(o.Code)
	return nil, nil
}
