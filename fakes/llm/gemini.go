package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// geminiRequest is what the model looks at of Google's Gemini API.
type geminiRequest struct {
	Tools []struct {
		Declarations []tool `json:"functionDeclarations"`
	} `json:"tools"`
	Contents []struct {
		Role  string `json:"role"`
		Parts []struct {
			Response *struct {
				Name     string          `json:"name"`
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	} `json:"contents"`
}

// messages is the same conversation as the Messages API has it. This API has no
// id for a call: the tool is told by its name.
func (c geminiRequest) messages(called string) (r request, err error) {
	for _, group := range c.Tools {
		r.Tools = append(r.Tools, group.Declarations...)
	}
	for _, content := range c.Contents {
		for _, part := range content.Parts {
			if part.Response == nil || part.Response.Name != called {
				continue
			}
			text, err := json.Marshal(functionOutput(part.Response.Response))
			if err != nil {
				return r, err
			}
			blocks, err := json.Marshal([]block{{Type: "tool_result", ToolUseID: callID, Content: text}})
			if err != nil {
				return r, err
			}
			r.Messages = append(r.Messages, message{content.Role, blocks})
		}
	}
	return r, nil
}

// functionOutput is the text of a function's response, which by convention is its
// member output.
func functionOutput(response json.RawMessage) string {
	var by struct{ Output string }
	if json.Unmarshal(response, &by) == nil && by.Output != "" {
		return by.Output
	}
	return string(response)
}

// gemini answers POST /v1beta/models/NAME:METHOD.
func (s *Server) gemini(w http.ResponseWriter, path string, body []byte) {
	if strings.HasSuffix(path, ":countTokens") {
		writeJSON(w, http.StatusOK, map[string]any{"totalTokens": 1})
		return
	}
	var c geminiRequest
	err := json.Unmarshal(body, &c)
	var r request
	if err == nil {
		r, err = c.messages(s.script.Tool)
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"code": 400, "message": err.Error(), "status": "INVALID_ARGUMENT"}})
		return
	}
	turn := s.script.next(r)
	part := map[string]any{"text": turn.text}
	if turn.tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": turn.tool, "args": turn.input}}
	}
	answer := map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{part}},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if !strings.HasSuffix(path, ":streamGenerateContent") {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	data, err := json.Marshal(answer)
	if err != nil || !s.step() {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}
