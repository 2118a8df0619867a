package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"bridgecheck/suites/subject"
)

// areas are the parts of an id before the dash, in the order of the catalogue.
var areas = []struct{ id, title string }{
	{"LPB", "loopback"},
	{"RLY", "relay"},
	{"ALW", "allowlist"},
	{"LIF", "lifecycle"},
	{"FBK", "mode and fallback"},
	{"MCP", "adapter"},
	{"PTH", "path routes"},
	{"AGT", "agents"},
	{"ESC", "escape attempts"},
	{"CAP", "honesty of claims"},
	{"ARA", "go-arapuca's own interface"},
	{"PRF", "performance"},
}

// Markdown is CASES.md: a table for each area, in the order given.
func Markdown(cases []Case) []byte {
	var b strings.Builder
	b.WriteString("# Checks\n\nWritten by `make cases` from the literals beside the checks; do not edit.\n" +
		"Level S is security, I interoperability, H a house rule that gates the reference bridge alone.\n" +
		"What is on request needs programs from npm: `make conformance` and `make agents` install and run it.\n")
	for _, area := range areas {
		var rows []string
		for _, c := range cases {
			if c.Area() == area.id {
				rows = append(rows, markdownRow(c))
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n## %s %s\n\n| id | level | observed | required | clause | needs | planted faults | file |\n"+
				"|---|---|---|---|---|---|---|---|\n%s", area.id, area.title, strings.Join(rows, ""))
		}
	}
	return []byte(b.String())
}

func markdownRow(c Case) string {
	title := escape(c.Title)
	if len(c.Rows) > 0 {
		title += "; rows " + code(c.Rows)
	}
	if c.OnRequest() {
		title += "; on request"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | `%s` |\n", c.ID, c.Level, title, escape(c.Must),
		c.Clause, code(c.Needs), code(c.Faults), c.source())
}

func code[S ~string](words []S) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, "`"+string(w)+"`")
	}
	return strings.Join(quoted, " ")
}

func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(s)
}

// source is the file without the line, which every edit above it would move.
func (c Case) source() string { file, _, _ := strings.Cut(c.File, ":"); return file }

// JSON is cases.json: the list for programs, one object a check.
func JSON(cases []Case) ([]byte, error) {
	type entry struct {
		ID     string               `json:"id"`
		Area   string               `json:"area"`
		Level  Level                `json:"level"`
		Title  string               `json:"title"`
		Must   string               `json:"must"`
		Why    string               `json:"why,omitempty"`
		Clause string               `json:"clause"`
		Needs  []subject.Capability `json:"needs"`
		Host   []HostFact           `json:"host"`
		Faults []string             `json:"faults"`
		Rows   []string             `json:"rows"`
		File   string               `json:"file"`
	}
	list := []entry{}
	for _, c := range cases {
		list = append(list, entry{
			ID: c.ID, Area: c.Area(), Level: c.Level, Title: c.Title, Must: c.Must, Why: c.Why,
			Clause: c.Clause, Needs: filled(c.Needs), Host: filled(c.Host), Faults: filled(c.Faults),
			Rows: filled(c.Rows), File: c.source(),
		})
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode cases: %w", err)
	}
	return append(data, '\n'), nil
}

// filled makes an absent list an empty one: a reader of the file finds a list
// under every key.
func filled[T any](list []T) []T { return append([]T{}, list...) }

// AreaTitle is what the area of an id is about, empty for an unknown area.
func AreaTitle(area string) string {
	for _, a := range areas {
		if a.id == area {
			return a.title
		}
	}
	return ""
}
