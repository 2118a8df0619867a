package adapter

import (
	"encoding/json"
	"fmt"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/kit"
)

// meta is what a stateless request carries.
const meta = `"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"probe","version":"1"}`

// scripted is a request, of a session, that makes the fake server follow the
// script; id is JSON.
func scripted(id string, script mcp.Script) string {
	return request(id, mcp.ScriptMethod, params(script))
}

// modernScripted is the same of the stateless era; more are members of _meta.
func modernScripted(id string, script mcp.Script, more ...string) string {
	return request(id, mcp.ScriptMethod, withMeta(params(script), more...))
}

func params(script mcp.Script) string {
	raw, err := json.Marshal(script)
	if err != nil {
		panic(err) // strings and numbers encode always
	}
	return string(raw)
}

// withMeta adds the _meta of the stateless era to params.
func withMeta(params string, more ...string) string {
	all := strings.Join(append([]string{meta}, more...), ",")
	if params == "{}" {
		return `{"_meta":{` + all + `}}`
	}
	return `{"_meta":{` + all + `},` + strings.TrimPrefix(params, "{")
}

func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// stateless is the endpoint with the headers of a stateless request.
func stateless(e kit.Endpoint, method string) kit.Endpoint {
	return e.With("Mcp-Protocol-Version", modern).With("Mcp-Method", method)
}

// result is what the server has told in the end of its script.
func result(o attempt.Observation) mcp.ScriptResult {
	return scriptResult(kit.Last(o).Result)
}

func scriptResult(raw []byte) mcp.ScriptResult {
	var r mcp.ScriptResult
	_ = json.Unmarshal(raw, &r) // what is no result is empty
	return r
}

// eventResult is the result in an event.
func eventResult(o attempt.Observation) mcp.ScriptResult {
	var m kit.Message
	_ = json.Unmarshal([]byte(o.Text), &m) // what is no message is empty
	return scriptResult(m.Result)
}

// elements are the messages of a batch, or the one that is none.
func elements(raw string) []kit.Message {
	var all []kit.Message
	if json.Unmarshal([]byte(raw), &all) == nil {
		return all
	}
	var one kit.Message
	_ = json.Unmarshal([]byte(raw), &one) // what is no message is empty
	return []kit.Message{one}
}
