package report_test

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"bridgecheck/suites/report"
)

// mixed is a run with one of each: pass, failure with a row, blocked, n/a.
func mixed(t *testing.T) report.Verdict {
	t.Helper()
	opts := options()
	opts.HostLacks = []string{"no container engine answers"}
	opts.SubjectArg = "build/ref native"
	return report.Judge([]report.Facts{
		shard("user", with(failed("ALW-002", ""), failed("ALW-012", "cgnat"), in(report.NotApplicable, "LIF-014", ""))...),
		shard("root", with(failed("ALW-002", ""), in(report.Blocked, "ALW-001", ""))...),
	}, opts)
}

func TestYAMLRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdict.yaml")
	want := mixed(t)
	if err := report.WriteYAML(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := report.ReadYAML(path)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again.yaml")
	if err := report.WriteYAML(again, got); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(path)
	b, _ := os.ReadFile(again)
	if !bytes.Equal(a, b) {
		t.Errorf("written again it differs:\n%s\n---\n%s", a, b)
	}
	if got.Exit != want.Exit || !reflect.DeepEqual(got.Counts, want.Counts) || !reflect.DeepEqual(got.Red(), want.Red()) {
		t.Errorf("read back %+v, want %+v", got.Red(), want.Red())
	}
}

func TestReadYAMLRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"another format": "format: 99\n",
		"unknown key":    "format: 1\ncolour: red\n",
		"not YAML":       "\tformat: [",
		"cut":            "format: 1\nresult: conformant\nexit: 0\n",
	} {
		path := filepath.Join(t.TempDir(), "verdict.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := report.ReadYAML(path); err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
}

// TestJUnit parses the file back with types of its own, as a server would.
func TestJUnit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "junit.xml")
	v := mixed(t)
	v.Cases[1].Results[0].Steps[1].Got = "200 \x1b[31m & <b>\x00"
	if err := report.WriteJUnit(path, v); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	if doc.Tests != 11 || doc.Failures != 3 || doc.Errors != 0 || doc.Skipped != 3 {
		t.Errorf("tests %d failures %d errors %d skipped %d, want 11 3 0 3\n%s", doc.Tests, doc.Failures, doc.Errors, doc.Skipped, data)
	}
	if doc.Suites[0].Name != "user" || doc.Suites[1].Name != "root" || doc.Suites[2].Name != "harness" {
		t.Errorf("suites %+v", doc.Suites)
	}
	if c := doc.Suites[0].Cases[3]; !strings.HasPrefix(c.Name, "ALW-012.cgnat ") || c.Failure == nil {
		t.Errorf("the fourth case is %+v, want the failed row", c)
	}
}

// TestJUnitInvalid: a server that reads only this file must not see green.
func TestJUnitInvalid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "junit.xml")
	if err := report.WriteJUnit(path, report.Judge(nil, options())); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	if !strings.Contains(string(data), "<error") {
		t.Errorf("no error in\n%s", data)
	}
}

// TestSummary reads the tables back: every row has the columns of its head.
func TestSummary(t *testing.T) {
	v := mixed(t)
	v.Cases[1].Results[0].Steps[1].Got = "a | b\n<script>`x`"
	path := filepath.Join(t.TempDir(), "summary.md")
	if err := report.WriteSummary(path, v); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	text := string(data)
	columns, rows := 0, map[string][]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		cells := regexp.MustCompile(`(?:^|[^\\])\|`).Split(line, -1)
		if columns != 0 && len(cells) != columns {
			t.Errorf("%d cells, want %d: %s", len(cells), columns, line)
		}
		columns = len(cells)
		rows[strings.TrimSpace(cells[1])] = cells
	}
	if got := rows["bridge"]; len(got) == 0 || strings.TrimSpace(got[2]) != "non-conformant" {
		t.Errorf("row of profile bridge is %q", got)
	}
	for _, want := range []string{"make case ID=ALW-002 SUBJECT='build/ref native'", "cgnat:", "ALW-001 blocked", "no container engine"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<script>") {
		t.Error("markup passed through")
	}
}

func TestFailedBlock(t *testing.T) {
	opts := options()
	opts.SubjectArg = "ref-native"
	v := report.Judge([]report.Facts{shard("user", with(failed("ALW-002", ""))...)}, opts)
	c, _ := v.Case("ALW-002")
	const want = `ALW-002 refuses CONNECT to a host that is not on the list
  requires  The proxy MUST answer 403 and MUST NOT open a connection to the host. (3.2)
  subject   ref-native; refbridge v0.1; kernel 6.18; cell user
  control   CONNECT allowed.test:443 -> 200
  wanted    a 403 from the proxy, not just any failure; 0 connections upstream
  got       CONNECT other.test:443 -> 200; 1 connection upstream
  at        suites/allowlist/deny.go:27
  rerun     make case ID=ALW-002 SUBJECT=ref-native
  evidence  results/ref-native/ALW-002/ (probe.json, agent.log)
`
	if got := report.Block(v, c, "results/ref-native"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestEvidenceLine: the folder is the nearest that holds all files.
func TestEvidenceLine(t *testing.T) {
	v := report.Judge([]report.Facts{shard("user", with(failed("ALW-002", ""))...)}, options())
	c, _ := v.Case("ALW-002")
	for want, files := range map[string][]string{
		"r/a/b/ (x.txt)":                 {"a/b/x.txt"},
		"r/a/b/ (x.txt, phase-1/y.json)": {"a/b/x.txt", "a/b/phase-1/y.json"},
		"r/a/ (b/x.txt, bc/y.txt)":       {"a/b/x.txt", "a/bc/y.txt"},
		"r/ (a/x.txt, y.txt)":            {"a/x.txt", "y.txt"},
		"":                               nil,
	} {
		c.Results[0].Evidence = files
		got := report.Block(v, c, "r")
		if _, line, _ := strings.Cut(got, "  evidence  "); strings.TrimSuffix(line, "\n") != want {
			t.Errorf("%v: %q, want %q", files, line, want)
		}
	}
}

func TestText(t *testing.T) {
	v := mixed(t)
	var plain, colour bytes.Buffer
	if err := report.WriteText(&plain, v, report.TextOptions{Dir: "results/x"}); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteText(&colour, v, report.TextOptions{Dir: "results/x", Color: true}); err != nil {
		t.Fatal(err)
	}
	text := plain.String()
	for _, want := range []string{
		"profile     result          pass  fail  blocked  n/a  other\n",
		"bridge      non-conformant  0     2     1        0\n",
		"ALW-012.cgnat ", "ALW-001 blocked: because", "this host lacks: no container engine", "report  results/x/report.html",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("plain text has escape sequences")
	}
	if n := strings.Count(text, "ALW-002 refuses"); n != 1 {
		t.Errorf("the same failure in two cells is shown %d times", n)
	}
	if bare := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(colour.String(), ""); bare != text || bare == colour.String() {
		t.Errorf("colour changes the text:\n%s", bare)
	}
}

// TestTextIsPrintable: what a subject printed never reaches the terminal raw.
func TestTextIsPrintable(t *testing.T) {
	v := mixed(t)
	v.Cases[1].Results[0].Steps[1].Got = "a\x1b]0;title\x07\r\u009b2J\n\tb"
	v.Problems = []string{"x\x1b[2J"}
	var out bytes.Buffer
	if err := report.WriteText(&out, v, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\x07\r\u009b") || !strings.Contains(out.String(), `a\x1b]0;title\x07\x0d\x9b2J`+"\n            \tb") {
		t.Errorf("got %q", out.String())
	}
}

func TestUseColor(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if report.UseColor(f) {
		t.Error("a file gets colours")
	}
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if report.UseColor(null) {
		t.Error("/dev/null gets colours")
	}
}

var hostile = []string{
	"a: b", "- x", "null", "~", "true", "1e3", "0x10", "|", ">", "#", "a # b", " lead", "trail ", "a\nb", "a\nb\n", "\na", "  a\n b",
	"a\r\nb", "a\rb", "\t", "a\tb", "\ta\n\tb", "\x00", "\x1b[31mred\x1b[0m", "\u2028", "\u00a0", "é😀", `"`, `'`, `\`, `\n`, "{a}", "[b", "*x", "&x", "!x",
	"%x", "@x", "`x", "---", "...", "a\n---\nb", "? a", ": a", "a:", "\n", "\n\n", " ", "a \nb ", "\u0085", "\ufeff", "2001-01-01", "=", "<<", "a\n\n\nb\n\n",
}

// FuzzYAMLKeepsText: what a subject printed comes back as it was, however hostile
// it is to YAML.
func FuzzYAMLKeepsText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(keepsText)
}

func keepsText(t *testing.T, text string) {
	text = strings.ToValidUTF8(text, "\ufffd") // as facts.json has it
	v := report.Judge([]report.Facts{shard("user", with(failed("ALW-002", ""))...)}, options())
	v.Cases[1].Results[0].Steps[1].Got = text
	path := filepath.Join(t.TempDir(), "verdict.yaml")
	if err := report.WriteYAML(path, v); err != nil {
		t.Fatal(err)
	}
	got, err := report.ReadYAML(path)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if g := got.Cases[1].Results[0].Steps[1].Got; g != text {
		t.Errorf("wrote %q, read %q", text, g)
	}
}
