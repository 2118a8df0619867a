package ref

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"bridgecheck/ref/config"
	"bridgecheck/ref/plan"
)

// MCP-001, FBK-011: what the agent is told of a door, by the transports of both.
func TestDoorsByTransport(t *testing.T) {
	const port, name, path, unix = "http://127.0.0.1:8085", "http://jira.mcp.internal", "http://127.0.0.1:18080/mcp/jira", "unix:/run/_jira/mcp"
	for about, row := range map[string]struct {
		server, agent []string
		urls          []string
		variable      string
	}{
		"all":            {nil, nil, []string{port + "/mcp", unix, name + "/mcp", path, port + "/sse", unix, name + "/sse", path + "/sse"}, "/mcp"},
		"http alone":     {[]string{"http"}, nil, []string{port + "/mcp", unix, name + "/mcp", path}, "/mcp"},
		"sse alone":      {[]string{"sse"}, nil, []string{port + "/sse", unix, name + "/sse", path + "/sse"}, "/sse"},
		"agent of sse":   {[]string{"http", "sse"}, []string{"sse"}, []string{port + "/mcp", unix, name + "/mcp", path, port + "/sse", unix, name + "/sse", path + "/sse"}, "/sse"},
		"agent of both":  {nil, []string{"sse", "http"}, []string{port + "/mcp", unix, name + "/mcp", path, port + "/sse", unix, name + "/sse", path + "/sse"}, "/mcp"},
		"agent of stdio": {nil, []string{"stdio"}, []string{port + "/mcp", unix, name + "/mcp", path, port + "/sse", unix, name + "/sse", path + "/sse"}, "/mcp"},
	} {
		d := &door{server: config.Server{Name: "jira", Transports: row.server}, port: 8085, unix: &unixDoor{path: "/run/_jira/mcp"}}
		a := &config.Agent{Transports: row.agent}
		p := &phase{spec: config.Spec{Agent: a}, plan: plan.Plan{Proxy: true}, doors: []*door{d}}
		var urls []string
		for _, told := range p.list() {
			urls = append(urls, told.URL)
		}
		env := map[string]string{}
		d.tell(env, a)
		want := map[string]string{"BRIDGE_SERVER_JIRA_URL": port + row.variable, "BRIDGE_SERVER_JIRA_SOCKET": "/run/_jira/mcp"}
		if !reflect.DeepEqual(urls, row.urls) || !reflect.DeepEqual(env, want) {
			t.Errorf("%s: %q and %q", about, urls, env)
		}
	}
}

// PTH-002: below the prefix only the endpoints of a transport that is offered.
func TestEndpoint(t *testing.T) {
	reached := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) })
	for _, row := range []struct {
		prefix, path string
		transports   []string
		want         string
	}{
		{"/mcp/jira", "/mcp/jira", []string{"http", "sse"}, "/mcp"},
		{"/mcp/jira", "/mcp/jira/sse", []string{"http", "sse"}, "/sse"},
		{"/mcp/jira", "/mcp/jira/messages", []string{"sse"}, "/messages"},
		{"/x/", "/x/", []string{"http"}, "/mcp"},
		{"/x/", "/x/sse", []string{"sse"}, "/sse"},
		{"/mcp/jira", "/mcp/jira/sse", []string{"http"}, ""},
		{"/mcp/jira", "/mcp/jira", []string{"sse"}, ""},
		{"/mcp/jira", "/mcp/jira/", []string{"http", "sse"}, ""},
		{"/mcp/jira", "/mcp/jira/mcp", []string{"http", "sse"}, ""},
		{"/mcp/jira", "/mcp/jira/stdio", []string{"http", "sse", "stdio"}, ""},
		{"/mcp/jira", "/mcp/jira/sse/", []string{"http", "sse"}, ""},
		{"/mcp/jira", "/mcp/jira/SSE", []string{"http", "sse"}, ""},
		{"/mcp/jira", "/mcp/jira//sse", []string{"http", "sse"}, ""},
		{"/mcp/jira", "/mcp/jira/sse/../../wiki", []string{"http", "sse"}, ""},
	} {
		w := httptest.NewRecorder()
		endpoint(row.prefix, offer(reached, row.transports...)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, row.path, http.NoBody))
		if got := w.Body.String(); w.Code != http.StatusOK && row.want != "" || w.Code == http.StatusOK && got != row.want {
			t.Errorf("%s at %s with %q: %d %s, want %s", row.path, row.prefix, row.transports, w.Code, got, row.want)
		}
	}
}
