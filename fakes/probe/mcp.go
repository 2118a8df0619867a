package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"bridgecheck/fakes/attempt"
)

// Eras of the protocol: with an initialize handshake, or stateless. A version
// is an era too, and is offered as it stands.
const (
	eraLegacy = "legacy"
	eraModern = "modern"
)

// mcp is one client session: initialise, list the tools, call one when Tool is
// set. Transport http or sse goes to URL by Via; unix goes to the socket Path
// and takes only the path from URL. Headers hold the negotiated
// Mcp-Protocol-Version and the Mcp-Session-Id; Status and Phrase are those of
// the last HTTP answer, Text the text of the result. A modern client that finds
// an old server falls back by itself: the version tells.
func (p *Probe) mcp(ctx context.Context, a attempt.Attempt) attempt.Observation {
	last := &lastAnswer{}
	trans, err := mcpTransport(a, last)
	if err != nil {
		return failed(err)
	}
	version := mcp.LATEST_LEGACY_PROTOCOL_VERSION
	switch {
	case a.Era == eraModern:
		version = mcp.LATEST_PROTOCOL_VERSION
	case a.Era == "", a.Era == eraLegacy:
	case mcp.IsValidProtocolVersion(a.Era):
		version = a.Era
	default:
		return refused("unknown era %q", a.Era)
	}
	answers := newAnswers()
	options, err := answers.options(a.Args)
	if err != nil {
		return failed(err)
	}
	c := client.NewClient(trans, append(options, client.WithProtocolVersion(version))...)
	c.OnNotification(func(n mcp.JSONRPCNotification) { answers.came(n.Method) })
	var o attempt.Observation
	err = session(ctx, c, a, &o)
	if err == nil {
		err = answers.await(ctx, a.Count)
	}
	note(&o, err)
	_ = c.Close()
	last.close()
	o.Status, o.Phrase = last.status, last.phrase
	o.Events = answers.list()
	return o
}

// session is what is said on one client connection.
func session(ctx context.Context, c *client.Client, a attempt.Attempt, o *attempt.Observation) error {
	if err := c.Start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = mcp.Implementation{Name: "probe", Version: "1"}
	if _, err := c.Initialize(ctx, request); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	o.Headers = map[string]string{"Mcp-Protocol-Version": c.ProtocolVersion()}
	if id := c.GetSessionId(); id != "" {
		o.Headers["Mcp-Session-Id"] = id
	}
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	for _, tool := range tools.Tools {
		o.Names = append(o.Names, tool.Name)
	}
	if a.Tool == "" {
		return nil
	}
	call := mcp.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = a.Tool, a.Arguments
	if slices.Contains(a.Args, argProgress) {
		call.Params.Meta = &mcp.Meta{ProgressToken: "probe"}
	}
	result, err := c.CallTool(ctx, call)
	if err != nil {
		return fmt.Errorf("tools/call: %w", err)
	}
	var text []string
	for _, item := range result.Content {
		if t, isText := mcp.AsTextContent(item); isText {
			text = append(text, t.Text)
		}
	}
	o.Text = strings.Join(text, "\n")
	if result.IsError {
		return fmt.Errorf("tools/call: the tool reports an error: %s", o.Text)
	}
	return nil
}
