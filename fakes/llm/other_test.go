package llm_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"bridgecheck/fakes/llm"
)

// exchange is one request and what must stand in its answer.
type exchange struct {
	path, body string
	status     int
	want       []string
}

func (x exchange) check(t *testing.T, s *llm.Server, title string) {
	t.Helper()
	answer, err := http.Post("http://"+s.Addr().String()+x.path, "application/json", strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	for _, want := range x.want {
		if answer.StatusCode != x.status || !strings.Contains(string(got), want) {
			t.Errorf("%s: %d, %s lacks %s", title, answer.StatusCode, got, want)
		}
	}
}

func TestResponses(t *testing.T) {
	const path = "/v1/responses"
	const tools = `"tools":[{"type":"function","name":"shell"},{"type":"namespace","name":"mcp__fake","tools":[{"name":"echo"}]}]`
	const question = `{"type":"message","role":"user","content":[{"type":"input_text","text":"call it"}]}`
	s := start(t, llm.Script{Tool: "mcp__fake__echo", Input: map[string]any{"text": "hi"}})
	for title, x := range map[string]exchange{
		"call":            {path, `{` + tools + `,"input":[` + question + `]}`, 200, []string{`"name":"echo"`, `"namespace":"mcp__fake"`, `"arguments":"{\"text\":\"hi\"}"`}},
		"call, streamed":  {path, `{"stream":true,` + tools + `,"input":[` + question + `]}`, 200, []string{"event: response.output_item.done\n", `"call_id":"toolu_call"`, "event: response.completed\n"}},
		"result as text":  {path, `{` + tools + `,"input":[` + question + `,{"type":"function_call_output","call_id":"toolu_call","output":"hi"}]}`, 200, []string{"FINAL: tool said hi"}},
		"result as parts": {path, `{` + tools + `,"input":[{"type":"function_call_output","call_id":"toolu_call","output":[{"type":"input_text","text":"hi"}]}]}`, 200, []string{"FINAL: tool said hi"}},
		"no such tool":    {path, `{"tools":[{"type":"function","name":"shell"}],"input":[` + question + `]}`, 200, []string{"FINAL: there is no tool"}},
		"side question":   {path, `{"input":[` + question + `]}`, 200, []string{`"text":"hello"`}},
		"no JSON":         {path, `x`, 400, []string{"invalid_request_error"}},
	} {
		x.check(t, s, title)
	}
	plain := start(t, llm.Script{Tool: "shell"})
	exchange{path, `{` + tools + `,"input":[]}`, 200, []string{`"name":"shell"`}}.check(t, plain, "tool without a namespace")
}

func TestGemini(t *testing.T) {
	const whole, streamed = "/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"
	const tools = `"tools":[{"functionDeclarations":[{"name":"other"}]},{"functionDeclarations":[{"name":"mcp_fake_echo"}]}]`
	const question = `{"role":"user","parts":[{"text":"call it"}]}`
	result := func(response string) string {
		return `{` + tools + `,"contents":[` + question + `,{"role":"user","parts":[{"functionResponse":{"name":"mcp_fake_echo","response":` + response + `}}]}]}`
	}
	s := start(t, llm.Script{Tool: "mcp_fake_echo", Input: map[string]any{"text": "hi"}})
	for title, x := range map[string]exchange{
		"call":               {whole, `{` + tools + `,"contents":[` + question + `]}`, 200, []string{`"functionCall":{"args":{"text":"hi"},"name":"mcp_fake_echo"}`}},
		"call, streamed":     {streamed, `{` + tools + `,"contents":[` + question + `]}`, 200, []string{"data: {", `"finishReason":"STOP"`}},
		"result by its text": {whole, result(`{"output":"hi"}`), 200, []string{"FINAL: tool said hi"}},
		"result of a kind":   {whole, result(`{"x":"hi"}`), 200, []string{`FINAL: tool said {\"x\":\"hi\"}`}},
		"side question":      {whole, `{"contents":[` + question + `]}`, 200, []string{`"text":"hello"`}},
		"tokens":             {"/v1beta/models/m:countTokens", `{}`, 200, []string{`"totalTokens":1`}},
		"no JSON":            {streamed, `x`, 400, []string{"INVALID_ARGUMENT"}},
	} {
		x.check(t, s, title)
	}
}
