package ref

import (
	"reflect"
	"testing"

	"bridgecheck/ref/config"
	"bridgecheck/ref/plan"
)

// TestDoorsByTransport: MCP-001, FBK-011.
func TestDoorsByTransport(t *testing.T) {
	for name, row := range map[string]struct {
		transports []string
		urls       []string
		variable   string
	}{
		"none": {nil, []string{"http://127.0.0.1:8085/mcp", "http://jira.mcp.internal/mcp", "http://127.0.0.1:18080/mcp/jira"}, "http://127.0.0.1:8085/mcp"},
		"sse":  {[]string{"sse"}, []string{"http://127.0.0.1:8085/sse", "http://jira.mcp.internal/sse"}, "http://127.0.0.1:8085/sse"},
		"both": {[]string{"http", "sse"}, []string{
			"http://127.0.0.1:8085/mcp", "http://127.0.0.1:8085/sse", "unix:/run/doors/jira.sock",
			"http://jira.mcp.internal/mcp", "http://jira.mcp.internal/sse", "http://127.0.0.1:18080/mcp/jira",
		}, "http://127.0.0.1:8085/mcp"},
	} {
		d := &door{server: config.Server{Name: "jira", Transports: row.transports}, port: 8085}
		p := &phase{spec: config.Spec{Agent: &config.Agent{}}, plan: plan.Plan{Proxy: true}, doors: []*door{d}}
		if name == "both" {
			p.sockets = "/run/doors"
		}
		var urls []string
		for _, told := range p.list() {
			urls = append(urls, told.URL)
		}
		if !reflect.DeepEqual(urls, row.urls) || d.url() != row.variable {
			t.Errorf("%s: %q and %s", name, urls, d.url())
		}
	}
}
