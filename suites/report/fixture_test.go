package report_test

import (
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/report"
	"bridgecheck/suites/subject"
)

var (
	control = report.Step{Kind: "control", What: "CONNECT allowed.test:443", Want: "200", Got: "200", OK: true}
	attempt = report.Step{Kind: "attempt", What: "CONNECT other.test:443", Want: "403", Got: "403", OK: true}
	far     = report.Step{Kind: "far side", Want: "0 connections upstream", Got: "0 connections upstream", OK: true}
	wrong   = report.Step{Kind: "attempt", What: "CONNECT other.test:443", Want: "a 403 from the proxy, not just any failure", Got: "200"}
	heard   = report.Step{Kind: "far side", Want: "0 connections upstream", Got: "1 connection upstream"}
)

func cases() []catalog.Case {
	return []catalog.Case{
		{ID: "ALW-001", Title: "tunnels to a listed host", Must: "CONNECT to a declared host MUST tunnel.", Level: catalog.Interoperability, Clause: "3.1", Needs: []subject.Capability{subject.Connect}, Faults: []string{"deny-all"}},
		{ID: "ALW-002", Title: "refuses CONNECT to a host that is not on the list", Must: "The proxy MUST answer 403 and MUST NOT open a connection to the host.", Level: catalog.Security, Clause: "3.2", Needs: []subject.Capability{subject.Connect}, Faults: []string{"open-proxy"}},
		{ID: "ALW-012", Title: "refuses special-use addresses", Must: "A name MUST NOT lead to a special-use address.", Level: catalog.Security, Clause: "3.12", Rows: []string{"loopback", "cgnat"}, Faults: []string{"class-missed"}},
		{ID: "LIF-014", Title: "keeps the socket directory private", Must: "The directory MUST be 0700.", Level: catalog.House, Clause: "4.14"},
	}
}

func passed(id, row string) report.Result {
	return report.Result{ID: id, Row: row, State: report.Passed, Uses: []subject.Capability{subject.Connect}, Steps: []report.Step{control, attempt, far}, At: "suites/allowlist/deny.go:27", TookMS: 41}
}

func in(state report.State, id, row string) report.Result {
	return report.Result{ID: id, Row: row, State: state, Reason: "because of " + string(state), At: "suites/allowlist/deny.go:27"}
}

func failed(id, row string) report.Result {
	r := in(report.Failed, id, row)
	r.Steps = []report.Step{control, wrong, heard}
	r.Evidence = []string{id + "/probe.json", id + "/agent.log"}
	return r
}

// shard is one finished cell with the given results; it selected their ids.
func shard(cell string, results ...report.Result) report.Facts {
	f := report.Facts{
		Finished: true,
		Subject: subject.Description{
			Protocol: subject.Protocol, Name: "ref-native", Versions: map[string]string{"refbridge": "v0.1"},
			Capabilities: []subject.Capability{subject.Connect},
		},
		Cell: report.Cell{
			Name: cell, Engine: "docker 20.10", Privilege: "privileged", UID: 1000, Kernel: "6.18",
			Host: map[catalog.HostFact]string{catalog.HostUserNS: "yes"},
		},
		Results: results,
	}
	seen := map[string]bool{}
	for _, r := range results {
		if !seen[r.ID] {
			seen[r.ID] = true
			f.Selected = append(f.Selected, r.ID)
		}
	}
	return f
}

// green is a full run in which everything passes.
func green() []report.Result {
	return []report.Result{
		passed("ALW-001", ""), passed("ALW-002", ""),
		passed("ALW-012", "loopback"), passed("ALW-012", "cgnat"), passed("LIF-014", ""),
	}
}

// with is the green run with the results of one check (or row) replaced.
func with(replace ...report.Result) []report.Result {
	var out []report.Result
	for _, r := range green() {
		for _, n := range replace {
			if n.ID == r.ID && n.Row == r.Row {
				r = n
			}
		}
		out = append(out, r)
	}
	return out
}

func options() report.Options {
	return report.Options{
		Registered: cases(), Selection: []string{"ALW-001", "ALW-002", "ALW-012", "LIF-014"}, SubjectIsOurs: true,
		Profiles: []report.Profile{{
			Name: "bridge", Why: "Does it reach what is declared and nothing else?",
			Core: []subject.Capability{subject.Connect}, Required: []string{"ALW-001", "ALW-002", "ALW-012"},
		}},
	}
}
