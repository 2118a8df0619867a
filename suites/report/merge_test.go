package report

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bridgecheck/suites/catalog"
)

// lay writes one result of a matrix: a row with its subject.
func lay(t *testing.T, root string, row Row, link *Link, subjects ...Verdict) {
	t.Helper()
	dir := filepath.Join(root, row.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteRow(dir, row); err != nil {
		t.Fatal(err)
	}
	if link != nil {
		if err := WriteLink(dir, *link); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range subjects {
		// The folders of cells hold no verdict, and are passed over.
		if err := os.MkdirAll(filepath.Join(dir, v.Subject.Name, "user"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := WriteYAML(filepath.Join(dir, v.Subject.Name, "verdict.yaml"), v); err != nil {
			t.Fatal(err)
		}
	}
}

func merging(name, version string, outcomes map[string]Outcome) Verdict {
	v := Verdict{Format: Format, Result: Conformant, Subject: Subject{Name: name, Versions: map[string]string{"arapuca": version}}}
	for _, id := range []string{"ALW-001", "ALW-002", "LIF-001"} {
		c := CaseVerdict{ID: id, Title: "title of " + id, Level: catalog.Security, Outcome: Pass}
		if o, ok := outcomes[id]; ok {
			c.Outcome, c.Red, c.Reason = o, o == Fail, "because | of <"+id+">"
		}
		if c.Red {
			v.Result, v.Exit = NonConformant, ExitNot
		}
		v.Cases = append(v.Cases, c)
	}
	return v
}

// matrix is four rows: the order of their names is not that of their versions.
func matrix(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	row := func(name, version string) Row {
		return Row{Name: name, Why: "why of " + name, Versions: map[string]string{"arapuca": version, "go-arapuca": "0.2.5"}, Image: "debian:12", Arch: "amd64", Expect: "conformant"}
	}
	unbuilt := row("b-0.2.4", "0.2.4")
	unbuilt.Expect, unbuilt.Got = "does-not-link", "does-not-link"
	lay(t, root, unbuilt, &lacks)
	lay(t, root, row("a-0.2.9", "0.2.9"), &fits, merging("ref-arapuca", "0.2.9", nil), merging("arapuca-cli", "0.2.9", nil))
	red := row("c-0.2.10", "0.2.10")
	red.Red, red.Because, red.Got = true, "ref-arapuca is non-conformant", "non-conformant"
	lay(t, root, red, &fits, merging("ref-arapuca", "0.2.10", map[string]Outcome{"ALW-002": Fail, "LIF-001": NA}))
	tip := row("tip", "main")
	tip.Informational = true
	lay(t, root, tip, &fits, merging("ref-arapuca", "main", map[string]Outcome{"LIF-001": NotSelected}))
	return root
}

func TestMergedPage(t *testing.T) {
	m, err := Merge([]string{matrix(t)})
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "merged.md")
	if flag.Lookup("update").Value.String() == "true" { // of schema_test.go
		if err := os.WriteFile(golden, []byte(m.Page()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if m.Page() != string(want) {
		t.Errorf("the page is not %s; go test ./suites/report -run MergedPage -update writes it\n%s", golden, m.Page())
	}
	page, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"c-0.2.10", `class="badge red">fail`, "because | of &lt;ALW-002&gt;", "does not link", "(informational)"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the HTML page has no %q", want)
		}
	}
	for _, never := range []string{"<ALW-002>", "http://", "https://", "<script"} {
		if strings.Contains(string(page), never) {
			t.Errorf("the HTML page has %q", never)
		}
	}
}

// TestMergeMarksDoubles: on both pages, and they take no row that was not built.
func TestMergeMarksDoubles(t *testing.T) {
	root := t.TempDir()
	double := merging("ref-arapuca-double", "0.2.8-double", nil)
	double.Subject.Double = true
	lay(t, root, Row{Name: "a", Versions: map[string]string{}}, nil, double)
	lay(t, root, Row{Name: "b", Versions: map[string]string{}}, &lacks)
	m, err := Merge([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	page, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Markdown": m.Page(), "HTML": string(page)} {
		if !strings.Contains(text, "a [double]") || !strings.Contains(text, doubleNote) {
			t.Errorf("%s does not mark the double:\n%s", name, text)
		}
	}
	if len(m.Groups) != 2 || len(m.Groups[1].Columns) != 1 || m.Groups[0].Subject != "not built" {
		t.Errorf("groups: %+v", m.Groups)
	}
}

// TestMergePlainFolders: without rows, the versions that differ name the columns,
// and folders where none does.
func TestMergePlainFolders(t *testing.T) {
	for _, tt := range []struct {
		name     string
		versions []string
		want     []string // DIR stands for the folder of the column
	}{
		{"one", []string{"1.0"}, []string{"arapuca 1.0, go 1"}},
		{"the same", []string{"1.0", "1.0"}, []string{"DIR", "DIR"}},
		{"different", []string{"1.10", "1.9"}, []string{"arapuca 1.9", "arapuca 1.10"}},
		{"two the same", []string{"1.0", "1.0", "1.1"}, []string{"arapuca 1.0 (DIR)", "arapuca 1.0 (DIR)", "arapuca 1.1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var dirs []string
			for i, version := range tt.versions {
				dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				v := merging("s", version, nil)
				v.Subject.Versions["go"] = "1"
				if err := WriteYAML(filepath.Join(dir, "verdict.yaml"), v); err != nil {
					t.Fatal(err)
				}
				dirs = append(dirs, dir)
			}
			m, err := Merge(dirs)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range m.Groups[0].Columns {
				if want := strings.ReplaceAll(tt.want[i], "DIR", c.Dir); c.Label != want {
					t.Errorf("label %q, want %q", c.Label, want)
				}
			}
			if len(dirs) > 1 && !strings.Contains(m.Page(), "Nothing.") {
				t.Errorf("equal runs differ:\n%s", m.Page())
			}
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	cut := t.TempDir()
	if err := os.WriteFile(filepath.Join(cut, "verdict.yaml"), []byte("format: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	row := t.TempDir()
	if err := os.WriteFile(filepath.Join(row, RowFile), []byte("format: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{cut, row, t.TempDir(), filepath.Join(cut, "none")} {
		if _, err := Merge([]string{dir}); err == nil {
			t.Errorf("%s was merged", dir)
		}
	}
}

func TestCompareNatural(t *testing.T) {
	ordered := []string{"", "arapuca 0.2.4", "arapuca 0.2.4, go 1", "arapuca 0.2.09", "arapuca 0.2.10", "arapuca 0.2.10-double", "arapuca main"}
	for i := range ordered {
		for k := range ordered {
			got := compareNatural(ordered[i], ordered[k])
			if (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("%q against %q: %d", ordered[i], ordered[k], got)
			}
		}
	}
}
