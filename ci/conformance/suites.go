package main

import (
	"path/filepath"
	"strings"
)

// suite is one line of the official suite and what it is asked to run.
type suite struct {
	name    string   // version of the tool / specification
	program string   // folder under node_modules
	args    []string // for all scenarios
	one     []string // for a single one, where that differs
	// stateless is how the HTTP server of the go-sdk must be started for it: one
	// with sessions refuses the stateless protocol, one without the other tests.
	stateless bool
}

// suites are both lines of the tool. The one of 2025 knows specifications up
// to 2025-11-25; the other one also has the stateless one of 2026-07-28.
var suites = []suite{
	{"0.1/2025-11-25", "conformance-0.1", []string{"--suite", "all"}, nil, false},
	{"0.2/2025-11-25", "conformance-0.2", []string{"--suite", "all", "--spec-version", "2025-11-25"}, []string{"--spec-version", "2025-11-25"}, false},
	{"0.2/2026-07-28", "conformance-0.2", []string{"--requirements", "2026-07-28"}, []string{"--spec-version", "2026-07-28"}, true},
}

// The doors of the bridge, with the URL of the server named conf behind each.
var doors = []struct{ name, url string }{
	{"loopback", "http://127.0.0.1:18090/mcp"},
	{"proxy", "http://conf.mcp.internal/mcp"},
	{"path", "http://127.0.0.1:18080/mcp/conf"},
}

// run is one execution of a suite.
type run struct {
	side  string // server, client
	suite suite
	chain string // direct, stdio, url: how the bridge reaches the server
	door  string // how the client reaches the bridge; empty when direct
	url   string // of the server, as the client sees it
}

func (r run) String() string {
	return strings.TrimSpace(strings.Join([]string{r.side, r.suite.name, r.chain, r.door}, " "))
}

// runs are all of one side, the direct one first.
func runs(side string, s suite) []run {
	all := []run{{side: side, suite: s, chain: "direct"}}
	chains := []string{"stdio", "url"}
	if side == "client" { // the suite is the server there, and it speaks HTTP
		chains = chains[1:]
	}
	for _, chain := range chains {
		for _, door := range doors {
			all = append(all, run{side: side, suite: s, chain: chain, door: door.name, url: door.url})
		}
	}
	return all
}

// folder is where the suite's results go.
func (r run) folder(results string) string {
	return filepath.Join(results, r.side, filepath.FromSlash(r.suite.name), r.chain+"-"+r.door)
}
