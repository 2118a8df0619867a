package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// What the tool ask asks the client for.
const (
	askSampling    = "sampling"
	askElicitation = "elicitation"
	askRoots       = "roots"
)

// askTokens bounds the answer of the client's model.
const askTokens = 10

// ask works with clients of both eras: the library turns the request for input
// into a request to a client that predates 2026-07-28.
func ask(_ context.Context, request protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	what := request.GetString("what", askSampling)
	if answer, found := server.InputResponse(request.Params.InputResponses, what); found {
		text, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		return protocol.NewToolResultText(string(text)), nil
	}
	builder := server.NewInputRequestBuilder("")
	switch what {
	case askSampling:
		message := protocol.SamplingMessage{Role: protocol.RoleUser, Content: protocol.NewTextContent("say something")}
		builder.Sample(what, protocol.CreateMessageParams{Messages: []protocol.SamplingMessage{message}, MaxTokens: askTokens})
	case askElicitation:
		builder.Elicit(what, protocol.ElicitationParams{
			Message: "what is your name?",
			RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
			},
		})
	case askRoots:
		builder.Roots(what)
	default:
		return protocol.NewToolResultError("ask for sampling, elicitation or roots"), nil
	}
	return builder.ToolResult(), nil
}

// notifier sends one notification to the client that called.
type notifier func(ctx context.Context, method string, params map[string]any) error

// Notified are the notifications of the tool notify, in their order; progress
// comes only where the call has a token for it.
var Notified = []string{
	string(protocol.MethodNotificationProgress),
	string(protocol.MethodNotificationMessage),
	string(protocol.MethodNotificationToolsListChanged),
	string(protocol.MethodNotificationPromptsListChanged),
	string(protocol.MethodNotificationResourcesListChanged),
	string(protocol.MethodNotificationResourceUpdated),
}

func (n notifier) all(ctx context.Context, request protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	for _, method := range Notified {
		var params map[string]any
		switch method {
		case string(protocol.MethodNotificationProgress):
			if request.Params.Meta == nil || request.Params.Meta.ProgressToken == nil {
				continue
			}
			params = map[string]any{"progressToken": request.Params.Meta.ProgressToken, "progress": 1, "total": 2}
		case string(protocol.MethodNotificationMessage):
			params = map[string]any{"level": "error", "data": "a line of log"}
		case string(protocol.MethodNotificationResourceUpdated):
			params = map[string]any{"uri": "file:///changed"}
		}
		if err := n(ctx, method, params); err != nil {
			return nil, fmt.Errorf("notify %s: %w", method, err)
		}
	}
	return protocol.NewToolResultText("notified"), nil
}

// byServer sends through the library, which does not keep the order between a
// notification and the result.
func byServer(ctx context.Context, method string, params map[string]any) error {
	return server.ServerFromContext(ctx).SendNotificationToClient(ctx, method, params)
}

// notify writes the notification itself: on stdio it is out before the result.
func (l *lines) notify(_ context.Context, method string, params map[string]any) error {
	message := map[string]any{"jsonrpc": protocol.JSONRPC_VERSION, "method": method}
	if params != nil {
		message["params"] = params
	}
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = l.Write(append(line, '\n'))
	return err
}
