package kit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/attempt"
)

// promptly caps the wait for what must come at once. A bridge that holds it back
// waits for something that the check does not do meanwhile.
const promptly = 2000

// Endpoint is an MCP endpoint that an agent uses by hand, message by message:
// for what a client library would never send, or would tidy up.
type Endpoint struct {
	agent   *Agent
	url     string
	via     string
	socket  string
	headers map[string]string
}

// Endpoint is that of the server by the URL and token in the environment, gone
// to directly.
func (a *Agent) Endpoint(ctx context.Context, server string) Endpoint {
	ginkgo.GinkgoHelper()
	e := a.EndpointAt(a.Env(ctx, ServerVariable(server, "URL")), "direct")
	if token := a.Env(ctx, ServerVariable(server, "TOKEN")); token != "" {
		e = e.With("Authorization", "Bearer "+token)
	}
	return e
}

// EndpointAt is any other; via is direct, proxy, connect or environment.
func (a *Agent) EndpointAt(url, via string) Endpoint {
	return Endpoint{agent: a, url: url, via: via, headers: map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
	}}
}

// Over is the endpoint on a Unix socket.
func (e Endpoint) Over(socket string) Endpoint {
	e.socket = socket
	return e
}

// With is the endpoint with one more header; an empty value takes it away.
func (e Endpoint) With(name, value string) Endpoint {
	e.headers = maps.Clone(e.headers)
	e.headers[name] = value
	if value == "" {
		delete(e.headers, name)
	}
	return e
}

// Session initialises with the version and capabilities (JSON) given, and
// returns the endpoint with the headers of the session.
func (e Endpoint) Session(ctx context.Context, version, capabilities string) Endpoint {
	ginkgo.GinkgoHelper()
	answer := e.Post(ctx, Initialize(version, capabilities))
	if answer.Status != http.StatusOK {
		ginkgo.Fail(fmt.Sprintf("initialize at %s was not answered well: %s", e.url, describeObservation(answer)))
	}
	e = e.With("Mcp-Protocol-Version", version).With("Mcp-Session-Id", answer.Headers["Mcp-Session-Id"])
	e.Post(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return e
}

// Initialize is the request of that name.
func Initialize(version, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,`+
		`"capabilities":%s,"clientInfo":{"name":"probe","version":"1"}}}`, version, capabilities)
}

// Post sends a body and reads the whole answer.
func (e Endpoint) Post(ctx context.Context, body string) attempt.Observation {
	ginkgo.GinkgoHelper()
	return e.Request(ctx, http.MethodPost, body)
}

// Promptly is [Endpoint.Post] for what must be answered at once.
func (e Endpoint) Promptly(ctx context.Context, body string) attempt.Observation {
	ginkgo.GinkgoHelper()
	att := e.attempt(http.MethodPost, body)
	att.TimeoutMS = promptly
	return e.agent.Do(ctx, att)
}

// Request is [Endpoint.Post] with any method.
func (e Endpoint) Request(ctx context.Context, method, body string) attempt.Observation {
	ginkgo.GinkgoHelper()
	return e.agent.Do(ctx, e.attempt(method, body))
}

// Open makes a request and leaves the answer's body open under the name; see
// [Agent.Event].
func (e Endpoint) Open(ctx context.Context, conn, method, body string) attempt.Observation {
	ginkgo.GinkgoHelper()
	att := e.attempt(method, body)
	att.Conn, att.TimeoutMS = conn, promptly
	return e.agent.Do(ctx, att)
}

func (e Endpoint) attempt(method, body string) attempt.Attempt {
	return attempt.Attempt{
		Op: attempt.OpHTTP, Method: method, URL: e.url, Path: e.socket, Via: e.via, Headers: e.headers, Data: []byte(body),
	}
}

// Begin sends a POST on a connection of that name and does not wait for an
// answer. It goes directly.
func (e Endpoint) Begin(ctx context.Context, conn, body string) {
	ginkgo.GinkgoHelper()
	u, err := url.Parse(e.url)
	if err != nil || u.Host == "" {
		ginkgo.Fail("this is no URL of a server: " + e.url)
	}
	var raw bytes.Buffer
	fmt.Fprintf(&raw, "POST %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n", u.RequestURI(), u.Host, len(body))
	for _, name := range slices.Sorted(maps.Keys(e.headers)) {
		fmt.Fprintf(&raw, "%s: %s\r\n", name, e.headers[name])
	}
	raw.WriteString("\r\n" + body)
	begun := e.agent.Do(ctx, attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: u.Host, Conn: conn, Data: raw.Bytes()})
	if begun.Errno != "" {
		ginkgo.Fail(fmt.Sprintf("dial %s: %s", u.Host, begun.Error))
	}
}

// Finish reads the answer to what [Endpoint.Begin] has sent.
func (a *Agent) Finish(ctx context.Context, conn string) attempt.Observation {
	ginkgo.GinkgoHelper()
	obs := a.Receive(ctx, conn, "eof")
	if resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(obs.Data)), nil); err == nil {
		body, _ := io.ReadAll(resp.Body) // what is cut short shows as it is
		resp.Body.Close()
		obs.Body = string(body)
	}
	return obs
}

// Event is the next server-sent event of an open answer that has data: that in
// Text, the last id so far in Headers. An event without data only gives an id to
// resume from.
func (a *Agent) Event(ctx context.Context, conn string) attempt.Observation {
	ginkgo.GinkgoHelper()
	var data []string
	headers := map[string]string{}
	for {
		obs := a.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: conn, Until: "line", TimeoutMS: promptly})
		if obs.Errno != "" {
			return obs
		}
		switch line := strings.TrimRight(string(obs.Data), "\r\n"); {
		case line == "" && strings.Join(data, "") == "":
			data = nil
		case line == "":
			return attempt.Observation{Text: strings.Join(data, "\n"), Headers: headers}
		default:
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "data":
				data = append(data, value)
			case "id":
				headers["id"] = value
			}
		}
	}
}

// Messages are the JSON-RPC messages of a whole answer, be it JSON or a stream.
func Messages(o attempt.Observation) []string {
	if !strings.HasPrefix(o.Headers["Content-Type"], "text/event-stream") {
		return []string{strings.TrimSpace(o.Body)}
	}
	messages := []string{}
	for line := range strings.Lines(o.Body) {
		if data, found := strings.CutPrefix(line, "data:"); found && strings.TrimSpace(data) != "" {
			messages = append(messages, strings.TrimSpace(data))
		}
	}
	return messages
}

// Last is the last message of an answer, in the members that a check looks at.
func Last(o attempt.Observation) Message {
	var m Message
	messages := Messages(o)
	if len(messages) > 0 {
		_ = json.Unmarshal([]byte(messages[len(messages)-1]), &m) // what is no message is empty
	}
	return m
}

// Message is a JSON-RPC message.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}
