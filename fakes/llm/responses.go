package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responsesRequest is what the model looks at of OpenAI's Responses API, which
// Codex speaks to any provider.
type responsesRequest struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  []struct {
		tool
		Tools []tool `json:"tools"` // of a namespace, as Codex gives each server one
	} `json:"tools"`
	Input []struct {
		Type   string          `json:"type"`
		Role   string          `json:"role"`
		CallID string          `json:"call_id"`
		Output json.RawMessage `json:"output"`
	} `json:"input"`
}

// namespaced joins the names of a namespace and a tool of it, as a [Script] names
// such a tool.
func namespaced(namespace, name string) string { return namespace + "__" + name }

// messages is the same conversation as the Messages API has it, and the namespace
// of each tool.
func (c responsesRequest) messages() (r request, namespaces map[string]string, err error) {
	r.Model, r.Stream, namespaces = c.Model, c.Stream, map[string]string{}
	for _, t := range c.Tools {
		r.Tools = append(r.Tools, t.tool)
		for _, inner := range t.Tools {
			full := namespaced(t.Name, inner.Name)
			r.Tools = append(r.Tools, tool{Name: full})
			namespaces[full] = t.Name
		}
	}
	for _, item := range c.Input {
		if item.Type != "function_call_output" {
			continue
		}
		content, err := json.Marshal([]block{{Type: "tool_result", ToolUseID: item.CallID, Content: outputText(item.Output)}})
		if err != nil {
			return r, nil, err
		}
		r.Messages = append(r.Messages, message{"user", content})
	}
	return r, namespaces, nil
}

// outputText makes the parts of an output, which have a type of their own here,
// the blocks of the Messages API.
func outputText(output json.RawMessage) json.RawMessage {
	var parts []block
	if json.Unmarshal(output, &parts) != nil {
		return output // a string
	}
	for i := range parts {
		parts[i].Type = "text"
	}
	blocks, err := json.Marshal(parts)
	if err != nil {
		return output
	}
	return blocks
}

// responses answers POST /v1/responses.
func (s *Server) responses(w http.ResponseWriter, body []byte) {
	var c responsesRequest
	err := json.Unmarshal(body, &c)
	var r request
	var namespaces map[string]string
	if err == nil {
		r, namespaces, err = c.messages()
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error(), "type": "invalid_request_error"}})
		return
	}
	turn := s.script.next(r)
	item := turn.item(namespaces)
	whole := map[string]any{
		"id": "resp_1", "object": "response", "status": "completed", "model": r.Model, "output": []any{item},
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
	}
	if !r.Stream {
		writeJSON(w, http.StatusOK, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": "resp_1", "status": "in_progress"}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": whole},
	} {
		data, err := json.Marshal(event)
		if err != nil || !s.step() {
			return
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
		_ = http.NewResponseController(w).Flush()
	}
}

// item is the answer as an item of the output.
func (t turn) item(namespaces map[string]string) map[string]any {
	if t.tool == "" {
		return map[string]any{
			"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": t.text, "annotations": []any{}}},
		}
	}
	arguments, err := json.Marshal(t.input)
	if err != nil {
		arguments = fmt.Appendf(nil, "{%q:%q}", "error", err.Error())
	}
	call := map[string]any{"type": "function_call", "id": "fc_1", "call_id": t.id, "name": t.tool, "arguments": string(arguments), "status": "completed"}
	if namespace, is := namespaces[t.tool]; is {
		call["name"], call["namespace"] = strings.TrimPrefix(t.tool, namespaced(namespace, "")), namespace
	}
	return call
}
