package egress

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRoutes(t *testing.T) {
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, name+" "+r.RequestURI) })
	}
	l := newLab(t, Config{Routes: []Route{
		{Prefix: "/mcp/jira", Server: "jira", Handler: named("jira")},
		{Prefix: "/mcp/jira2", Server: "jira2", Handler: named("jira2")},
		{Prefix: "/mcp/", Handler: http.NotFoundHandler()},
		{Prefix: "/v1", Handler: named("model")},
	}})
	rows := []struct {
		path   string
		status int
		body   string
	}{
		{"/mcp/jira", 200, "jira /mcp/jira"},
		{"/mcp/jira/", 200, "jira /mcp/jira/"},
		{"/mcp/jira/x?y=/../z", 200, "jira /mcp/jira/x?y=/../z"},
		{"/mcp/jira?x", 200, "jira /mcp/jira?x"},
		{"/mcp/jira2", 200, "jira2 /mcp/jira2"},
		{"/mcp/jira23", 404, ""},
		{"/mcp/JIRA", 404, ""},
		{"/mcp/jir%61", 404, ""},
		{"/mcp/nope", 404, ""},
		{"/mcp", 404, ""},
		{"/v1/messages", 200, "model /v1/messages"},
		{"/v10", 404, ""},
		{"/", 404, ""},
		{"/mcp/jira/../jira2", 400, ""},
		{"/mcp/jira/..", 400, ""},
		{"/mcp/./jira", 400, ""},
		{"/mcp//jira", 400, ""},
		{"//mcp/jira", 400, ""},
		{"/mcp/jira%2fx", 400, ""},
		{"/mcp/jira%2Fx", 400, ""},
		{"/mcp/jira/%2e%2E/jira2", 400, ""},
		{"/mcp/jira%5cx", 400, ""},
		{`/mcp/jira\x`, 400, ""},
		{"/mcp/jira%00", 400, ""},
		{"/v1/%zz", 400, ""},
	}
	for _, r := range rows {
		c := l.dial()
		c.send("GET " + r.path + " HTTP/1.1\r\nHost: 127.0.0.1:18080\r\n\r\n")
		res, body := c.response("GET")
		if res.StatusCode != r.status || r.body != "" && body != r.body {
			t.Errorf("%s: %s %q", r.path, res.Status, body)
		}
		d := l.last()
		if r.status == 200 && (d.Verdict != Allow || d.Server != strings.Trim(strings.Fields(r.body)[0], "model")) {
			t.Errorf("%s: %+v", r.path, d)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	h := http.NotFoundHandler()
	name := mustAuthority(t, "jira:80")
	rows := map[string]Config{
		"name":                    {Name: "a b"},
		"refuse status":           {RefuseStatus: 200},
		"virtual not canonical":   {Virtual: map[Authority]VirtualServer{{Name: "JIRA", Port: 80}: {"jira", h}}},
		"virtual without port":    {Virtual: map[Authority]VirtualServer{{Name: "jira"}: {"jira", h}}},
		"virtual without handler": {Virtual: map[Authority]VirtualServer{name: {Name: "jira"}}},
		"loopback port 0":         {Loopback: map[uint16]VirtualServer{0: {"jira", h}}},
		"route without slash":     {Routes: []Route{{Prefix: "mcp", Handler: h}}},
		"route with dots":         {Routes: []Route{{Prefix: "/a/../b", Handler: h}}},
		"route twice":             {Routes: []Route{{Prefix: "/a", Handler: h}, {Prefix: "/a", Handler: h}}},
		"route without handler":   {Routes: []Route{{Prefix: "/a"}}},
	}
	for what, cfg := range rows {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	if _, err := New(Config{Virtual: map[Authority]VirtualServer{name: {"jira", h}}, Routes: []Route{{Prefix: "/", Handler: h}}}); err != nil {
		t.Error(err)
	}
}
