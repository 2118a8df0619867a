package llm_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"bridgecheck/fakes/llm"
)

func TestChatCompletions(t *testing.T) {
	s := start(t, llm.Script{Tool: "fake_echo", Input: map[string]any{"text": "hi"}})
	const tools = `"tools":[{"type":"function","function":{"name":"fake_echo"}}]`
	const question = `{"role":"user","content":"call it"}`
	for title, c := range map[string]struct {
		body   string
		status int
		want   []string
	}{
		"call":          {`{` + tools + `,"messages":[` + question + `]}`, 200, []string{`"name":"fake_echo"`, `"arguments":"{\"text\":\"hi\"}"`, `"finish_reason":"tool_calls"`}},
		"result":        {`{` + tools + `,"messages":[` + question + `,{"role":"tool","tool_call_id":"toolu_call","content":"hi"}]}`, 200, []string{`FINAL: tool said hi`, `"finish_reason":"stop"`}},
		"side question": {`{"messages":[` + question + `]}`, 200, []string{`"content":"hello"`}},
		"no JSON":       {`x`, 400, []string{`invalid_request_error`}},
	} {
		for _, stream := range []bool{false, true} {
			body := c.body
			if stream {
				body = strings.Replace(body, "{", `{"stream":true,`, 1)
			}
			answer, err := http.Post("http://"+s.Addr().String()+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			for _, want := range c.want {
				if answer.StatusCode != c.status || !strings.Contains(string(got), want) {
					t.Errorf("%s, stream %v: %d, %s lacks %s", title, stream, answer.StatusCode, got, want)
				}
			}
			if ended := strings.HasSuffix(string(got), "data: [DONE]\n\n"); ended != (stream && c.status == 200) {
				t.Errorf("%s, stream %v: ends %q", title, stream, got[max(0, len(got)-20):])
			}
		}
	}
}
