package routes

import (
	"context"
	"net/http"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// detour is a path that resembles that of a server.
type detour struct {
	path string
	own  bool // it may lead to jira, whose path it resembles; never to wiki
}

var _ = kit.Table(catalog.Case{
	ID:     "PTH-002",
	Title:  "leads no path to a server that it does not name",
	Must:   "Encoded slashes, dot segments, double slashes, another case and a trailing slash MUST NOT lead to another server: the path is answered 400 or 404, or leads where it reads.",
	Level:  catalog.Security,
	Clause: "9.2",
	Needs:  []subject.Capability{subject.PathRoutes, subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"route-traversal", "route-by-beginning", "route-in-any-case"},
	Why:    "Two readings of one path, one by the rule and one by the handler, are a way round the rule.",
}, []kit.Row[detour]{
	{Name: "dot-segments", Value: detour{"/mcp/jira/../wiki", false}},
	{Name: "encoded-dots", Value: detour{"/mcp/jira/%2e%2e/wiki", false}},
	{Name: "encoded-slash", Value: detour{"/mcp/jira%2f..%2fwiki", false}},
	{Name: "encoded-slash-once", Value: detour{"/mcp%2fwiki", false}},
	{Name: "double-encoded", Value: detour{"/mcp/jira/%252e%252e/wiki", false}},
	{Name: "backslash", Value: detour{`/mcp/jira\..\wiki`, false}},
	{Name: "encoded-backslash", Value: detour{"/mcp/jira%5c..%5cwiki", false}},
	{Name: "double-slash", Value: detour{"/mcp//wiki", false}},
	{Name: "double-slash-first", Value: detour{"//mcp/wiki", false}},
	{Name: "below", Value: detour{"/mcp/jira/wiki", false}},
	{Name: "longer-name", Value: detour{"/mcp/jirax", false}},
	{Name: "case-of-name", Value: detour{"/mcp/WIKI", false}},
	{Name: "case-of-prefix", Value: detour{"/MCP/wiki", false}},
	{Name: "semicolon", Value: detour{"/mcp/wiki;jira", false}},
	{Name: "encoded-null", Value: detour{"/mcp/wiki%00", false}},
	{Name: "trailing-slash", Value: detour{"/mcp/jira/", true}},
	{Name: "query", Value: detour{"/mcp/jira?/../wiki", true}},
	{Name: "dot", Value: detour{"/mcp/./jira", true}},
	{Name: "encoded-letter", Value: detour{"/mcp/%6aira", true}},
}, func(ctx context.Context, t *kit.T, d detour) {
	agent := t.Start(ctx, twoServers(t)).Agent
	for _, name := range []string{"jira", "wiki"} {
		t.Control("the path of "+name, at(ctx, agent, "/mcp/"+name).Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(http.StatusOK))
	}
	jira, wiki := initialized(t, "jira"), initialized(t, "wiki")
	answer := at(ctx, agent, d.path).Post(ctx, kit.Initialize(legacy, "{}"))
	right := kit.BeStatus(http.StatusBadRequest, http.StatusNotFound)
	if d.own {
		right = kit.BeStatus(http.StatusOK, http.StatusBadRequest, http.StatusNotFound)
	}
	t.Attempt("POST "+d.path, answer, right)
	t.FarSide("sessions that wiki was asked for by it", initialized(t, "wiki")-wiki, kit.BeNone())
	if !d.own {
		t.FarSide("sessions that jira was asked for by it", initialized(t, "jira")-jira, kit.BeNone())
	}
})
