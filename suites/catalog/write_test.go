package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

func sample() []catalog.Case {
	return []catalog.Case{
		{
			ID: "ALW-002", Title: "refuses CONNECT to a host that is not on the list", Level: catalog.Security,
			Must: "The proxy MUST answer 403 | 407 and MUST NOT dial.", Clause: "3.2", Why: "an open proxy",
			Needs: []subject.Capability{subject.Connect, subject.NetNS}, Host: []catalog.HostFact{catalog.HostUserNS},
			Faults: []string{"open-proxy", "dial-first"}, Rows: []string{"name", "literal"}, File: "suites/allowlist/deny.go:27",
		},
		{ID: "LPB-001", Title: "has lo up", Must: "lo MUST be UP.", Level: catalog.House, Clause: "3.1", File: "suites/loopback/up.go:9"},
	}
}

func TestMarkdown(t *testing.T) {
	const want = `# Checks

Written by ` + "`make cases`" + ` from the literals beside the checks; do not edit.
Level S is security, I interoperability, H a house rule that gates the reference bridge alone.
What is on request needs programs from npm: ` + "`make conformance` and `make agents`" + ` install and run it.

## LPB loopback

| id | level | observed | required | clause | needs | planted faults | file |
|---|---|---|---|---|---|---|---|
| LPB-001 | H | has lo up | lo MUST be UP. | 3.1 |  |  | ` + "`suites/loopback/up.go`" + ` |

## ALW allowlist

| id | level | observed | required | clause | needs | planted faults | file |
|---|---|---|---|---|---|---|---|
| ALW-002 | S | refuses CONNECT to a host that is not on the list; rows ` + "`name` `literal`" +
		` | The proxy MUST answer 403 \| 407 and MUST NOT dial. | 3.2 | ` + "`connect` `netns` | `open-proxy` `dial-first` | `suites/allowlist/deny.go`" + ` |
`
	if got := string(catalog.Markdown(sample())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestJSON(t *testing.T) {
	data, err := catalog.JSON(sample())
	if err != nil {
		t.Fatal(err)
	}
	const want = `  {
    "id": "LPB-001",
    "area": "LPB",
    "level": "H",
    "title": "has lo up",
    "must": "lo MUST be UP.",
    "clause": "3.1",
    "needs": [],
    "host": [],
    "faults": [],
    "rows": [],
    "file": "suites/loopback/up.go"
  }
]
`
	if !strings.HasSuffix(string(data), want) {
		t.Errorf("got\n%s\nwant it to end with\n%s", data, want)
	}
	var back []map[string]any
	if err := json.Unmarshal(data, &back); err != nil || len(back) != 2 || back[0]["rows"].([]any)[1] != "literal" {
		t.Errorf("read back %v, %v", back, err)
	}
	if data, err := catalog.JSON(nil); err != nil || string(data) != "[]\n" {
		t.Errorf("no cases: %q, %v", data, err)
	}
}

// TestValidate has a good literal and one broken in each way.
func TestValidate(t *testing.T) {
	good := func() catalog.Case { c := sample()[0]; return c }
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, breakIt := range map[string]func(*catalog.Case){
		"unknown area":       func(c *catalog.Case) { c.ID = "XYZ-001" },
		"two digits":         func(c *catalog.Case) { c.ID = "ALW-02" },
		"four digits":        func(c *catalog.Case) { c.ID = "ALW-0002" },
		"no title":           func(c *catalog.Case) { c.Title = "" },
		"no must":            func(c *catalog.Case) { c.Must = "" },
		"no clause":          func(c *catalog.Case) { c.Clause = "" },
		"unknown level":      func(c *catalog.Case) { c.Level = "M" },
		"no fault":           func(c *catalog.Case) { c.Faults = nil },
		"unknown capability": func(c *catalog.Case) { c.Needs = []subject.Capability{"flying"} },
		"row with a dot":     func(c *catalog.Case) { c.Rows = []string{"a.b"} },
		"row in capitals":    func(c *catalog.Case) { c.Rows = []string{"A"} },
	} {
		c := good()
		breakIt(&c)
		if err := c.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	house := good()
	house.Level, house.Faults = catalog.House, nil
	if err := house.Validate(); err != nil {
		t.Errorf("a house rule without a fault: %v", err)
	}
}

// TestEveryAreaIsWritten: a check of an area that the writer forgot would be
// missing from CASES.md.
func TestEveryAreaIsWritten(t *testing.T) {
	for _, area := range []string{"LPB", "RLY", "ALW", "LIF", "FBK", "MCP", "PTH", "AGT", "ESC", "CAP", "ARA", "PRF"} {
		c := sample()[0]
		c.ID = area + "-001"
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(catalog.Markdown([]catalog.Case{c})), "| "+c.ID+" |") {
			t.Errorf("%s is missing", c.ID)
		}
	}
}

func TestRegister(t *testing.T) {
	t.Cleanup(catalog.Forget)
	for _, c := range sample() {
		catalog.Register(c)
	}
	if all := catalog.All(); len(all) != 2 || all[0].ID != "ALW-002" {
		t.Errorf("all = %v", all)
	}
	if _, ok := catalog.Get("LPB-001"); !ok {
		t.Error("LPB-001 is not there")
	}
	for _, c := range []catalog.Case{sample()[0], {ID: "ALW-003"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: registered without a panic", c.ID)
				}
			}()
			catalog.Register(c)
		}()
	}
}
