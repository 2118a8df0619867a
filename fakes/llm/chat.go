package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// chatRequest is what the model looks at of OpenAI's chat completions, which
// Opencode and many others speak to any provider.
type chatRequest struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  []struct {
		Function tool `json:"function"`
	} `json:"tools"`
	Messages []struct {
		Role       string          `json:"role"`
		ToolCallID string          `json:"tool_call_id"`
		Content    json.RawMessage `json:"content"`
	} `json:"messages"`
}

// messages is the same conversation as the other API has it.
func (c chatRequest) messages() (r request, err error) {
	r.Model, r.Stream = c.Model, c.Stream
	for _, t := range c.Tools {
		r.Tools = append(r.Tools, t.Function)
	}
	for _, m := range c.Messages {
		content := m.Content
		if m.Role == "tool" {
			if content, err = json.Marshal([]block{{Type: "tool_result", ToolUseID: m.ToolCallID, Content: m.Content}}); err != nil {
				return r, err
			}
		}
		r.Messages = append(r.Messages, message{m.Role, content})
	}
	return r, nil
}

// chat answers POST /v1/chat/completions.
func (s *Server) chat(w http.ResponseWriter, body []byte) {
	var c chatRequest
	err := json.Unmarshal(body, &c)
	var r request
	if err == nil {
		r, err = c.messages()
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error(), "type": "invalid_request_error"}})
		return
	}
	turn := s.script.next(r)
	if !r.Stream {
		writeJSON(w, http.StatusOK, turn.completion(r.Model, "chat.completion", "message", turn.said(), turn.finishReason()))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []any{
		turn.completion(r.Model, "chat.completion.chunk", "delta", turn.said(), nil),
		turn.completion(r.Model, "chat.completion.chunk", "delta", map[string]any{}, turn.finishReason()),
	} {
		data, err := json.Marshal(chunk)
		if err != nil || !s.step() {
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

func (t turn) finishReason() string {
	if t.tool != "" {
		return "tool_calls"
	}
	return "stop"
}

// said is the assistant's message.
func (t turn) said() map[string]any {
	if t.tool == "" {
		return map[string]any{"role": "assistant", "content": t.text}
	}
	arguments, err := json.Marshal(t.input)
	if err != nil {
		arguments = fmt.Appendf(nil, "{%q:%q}", "error", err.Error())
	}
	return map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
		"index": 0, "id": t.id, "type": "function", "function": map[string]any{"name": t.tool, "arguments": string(arguments)},
	}}}
}

// completion is an answer, or one event of it.
func (t turn) completion(model, object, field string, said map[string]any, reason any) map[string]any {
	return map[string]any{
		"id": "chatcmpl-1", "object": object, "created": 0, "model": model,
		"choices": []any{map[string]any{"index": 0, field: said, "finish_reason": reason}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}
}
