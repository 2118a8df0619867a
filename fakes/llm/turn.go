package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// searchTool is how Claude Code has the model load tools that it only lists.
const searchTool = "ToolSearch"

// The ids of tool calls tell, when their results come back, what was called.
const (
	searchID = "toolu_search"
	callID   = "toolu_call"
)

// request is what the model looks at of a request.
type request struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Tools    []tool    `json:"tools"`
	Messages []message `json:"messages"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// tool is one tool that the model is offered.
type tool struct {
	Name string `json:"name"`
}

// block is one content block of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// turn is one answer of the model: text, or the call of a tool.
type turn struct {
	text  string
	tool  string
	id    string
	input map[string]any
}

// next decides the answer from the conversation alone; no state is kept, since
// agents ask side questions (a title, a summary) in between.
func (s Script) next(r request) turn {
	if s.Tool == "" {
		return turn{text: s.Text}
	}
	id, result := r.lastResult()
	if id == callID {
		return turn{text: "FINAL: tool said " + result}
	}
	has := func(name string) bool {
		return slices.Contains(r.Tools, tool{Name: name})
	}
	switch {
	case has(s.Tool), id == searchID:
		return turn{tool: s.Tool, id: callID, input: s.Input}
	case has(searchTool):
		return turn{tool: searchTool, id: searchID, input: map[string]any{"query": "select:" + s.Tool}}
	case len(r.Tools) == 0:
		return turn{text: s.Text}
	}
	return turn{text: "FINAL: there is no tool " + s.Tool}
}

// lastResult is the newest tool result, with the id of its call.
func (r request) lastResult() (id, text string) {
	for _, message := range slices.Backward(r.Messages) {
		var blocks []block
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue // a plain string
		}
		for _, b := range slices.Backward(blocks) {
			if b.Type == "tool_result" {
				return b.ToolUseID, plainText(b.Content)
			}
		}
	}
	return "", ""
}

// plainText reads content that is a string or a list of text blocks.
func plainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []block
	_ = json.Unmarshal(content, &blocks) // anything else has no text
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// usage is made up: nobody is charged.
var usage = map[string]any{"input_tokens": 1, "output_tokens": 1}

func (t turn) stopReason() string {
	if t.tool != "" {
		return "tool_use"
	}
	return "end_turn"
}

// message is the answer in one piece.
func (t turn) message(model string) map[string]any {
	content := map[string]any{"type": "text", "text": t.text}
	if t.tool != "" {
		content = map[string]any{"type": "tool_use", "id": t.id, "name": t.tool, "input": t.input}
	}
	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": model,
		"content": []any{content}, "stop_reason": t.stopReason(), "stop_sequence": nil, "usage": usage,
	}
}

// events is the answer as a stream, in two deltas.
func (t turn) events(model string) []map[string]any {
	start := t.message(model)
	start["content"], start["stop_reason"] = []any{}, nil
	opening := map[string]any{"type": "text", "text": ""}
	whole, kind, field := t.text, "text_delta", "text"
	if t.tool != "" {
		opening = map[string]any{"type": "tool_use", "id": t.id, "name": t.tool, "input": map[string]any{}}
		input, err := json.Marshal(t.input)
		if err != nil {
			input = fmt.Appendf(nil, "{%q:%q}", "error", err.Error())
		}
		whole, kind, field = string(input), "input_json_delta", "partial_json"
	}
	delta := func(part string) map[string]any {
		return map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": kind, field: part}}
	}
	half := len(whole) / 2
	for half > 0 && !utf8.RuneStart(whole[half]) {
		half--
	}
	return []map[string]any{
		{"type": "message_start", "message": start},
		{"type": "content_block_start", "index": 0, "content_block": opening},
		delta(whole[:half]),
		delta(whole[half:]),
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": t.stopReason(), "stop_sequence": nil}, "usage": usage},
		{"type": "message_stop"},
	}
}
