package llm_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"bridgecheck/fakes/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, script llm.Script) *llm.Server {
	t.Helper()
	s, err := llm.Start("127.0.0.1:0", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

func post(t *testing.T, s *llm.Server, body string) *http.Response {
	t.Helper()
	answer, err := http.Post("http://"+s.Addr().String()+"/v1/messages?beta=true", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func TestConversation(t *testing.T) {
	const tool = `"tools":[{"name":"mcp__fake__echo"}]`
	const search = `"tools":[{"name":"ToolSearch"}]`
	const question = `{"role":"user","content":"call the echo tool"}`
	s := start(t, llm.Script{Tool: "mcp__fake__echo", Input: map[string]any{"text": "hé"}})
	for _, c := range []struct{ name, body, want string }{
		{"tool at hand", `{` + tool + `,"messages":[` + question + `]}`, `"id":"toolu_call","input":{"text":"hé"},"name":"mcp__fake__echo"`},
		{"tool to be searched", `{` + search + `,"messages":[` + question + `]}`, `"input":{"query":"select:mcp__fake__echo"},"name":"ToolSearch"`},
		{"tool found", `{` + search + `,"messages":[` + question + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_search","content":[]}]}]}`, `"id":"toolu_call"`},
		{"result as text", `{` + tool + `,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_call","content":"hi"}]}]}`, `FINAL: tool said hi`},
		{"result as blocks", `{` + tool + `,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_call","content":[{"type":"text","text":"hi"}]}]},` + question + `]}`, `FINAL: tool said hi`},
		{"side question", `{"messages":[` + question + `]}`, `"text":"hello"`},
		{"other tools only", `{"tools":[{"name":"Bash"}],"messages":[` + question + `]}`, `there is no tool mcp__fake__echo`},
	} {
		whole, _ := io.ReadAll(post(t, s, c.body).Body)
		if !strings.Contains(string(whole), c.want) {
			t.Errorf("%s: %s lacks %s", c.name, whole, c.want)
		}
		streamed := text(t, post(t, s, strings.Replace(c.body, "{", `{"stream":true,`, 1)).Body)
		var input struct{ Text, Query string }
		if json.Unmarshal([]byte(streamed), &input) == nil {
			streamed = input.Text + input.Query
		}
		if streamed == "" || !strings.Contains(string(whole), streamed) {
			t.Errorf("%s: the stream says %q, the whole answer %s", c.name, streamed, whole)
		}
	}
	if got := s.Requests(); len(got) != 14 || got[0].Path != "/v1/messages" || got[0].Header.Get("Content-Type") == "" {
		t.Errorf("%d requests, first %+v", len(got), got[0])
	}
}

// text joins the deltas of a stream and checks its frame.
func text(t *testing.T, stream io.Reader) string {
	t.Helper()
	var joined, types []string
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue
		}
		var event struct {
			Type  string `json:"type"`
			Delta struct {
				Text        string `json:"text"`
				PartialJSON string `json:"partial_json"`
			} `json:"delta"`
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		types = append(types, event.Type)
		joined = append(joined, event.Delta.Text+event.Delta.PartialJSON)
	}
	const delta = "content_block_delta "
	const want = "message_start content_block_start " + delta + delta + "content_block_stop message_delta message_stop"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("events %s", got)
	}
	return strings.Join(joined, "")
}

func TestStepHoldsEventsBack(t *testing.T) {
	step := make(chan struct{})
	s := start(t, llm.Script{Step: step})
	answered := make(chan *http.Response, 1)
	go func() { answered <- post(t, s, `{"stream":true}`) }()
	step <- struct{}{}
	lines := bufio.NewReader((<-answered).Body)
	for range 6 {
		// Each event must be here before the next is let go.
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "event: ") {
			t.Fatalf("%q, %v", line, err)
		}
		_, _ = lines.ReadString('\n')
		_, _ = lines.ReadString('\n')
		step <- struct{}{}
	}
}

func TestOtherRequests(t *testing.T) {
	s := start(t, llm.Script{})
	base := "http://" + s.Addr().String()
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"HEAD", "/", "", 200},
		{"POST", "/v1/messages/count_tokens", "{}", 200},
		{"POST", "/v1/messages", "no json", 400},
		{"GET", "/v1/messages", "", 404},
		{"GET", "/", "", 404},
		{"TRACE", "/v1/messages", "", 200},
	} {
		request, _ := http.NewRequest(c.method, base+c.path, strings.NewReader(c.body))
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, answer.StatusCode)
		}
	}
}

func TestStart(t *testing.T) {
	s := start(t, llm.Script{})
	if other, err := llm.Start(s.Addr().String(), llm.Script{}); err == nil {
		other.Close()
		t.Error("started twice on one address")
	}
	path := filepath.Join(t.TempDir(), "s")
	unix, err := llm.Start("unix:"+path, llm.Script{})
	if err != nil {
		t.Fatal(err)
	}
	unix.Close()
	unix.Close()
}
