package mutants_test

import (
	"context"
	"debug/buildinfo"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"bridgecheck/suites/mutants"
	"bridgecheck/suites/report"
)

const source = `package main

import "fmt"

func main() {
	fmt.Println("door shut")
	fmt.Println("lamp lit")
}
`

// builder is one for a module with a single program.
func builder(t *testing.T) mutants.Builder {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with")
	}
	root := t.TempDir()
	for file, text := range map[string]string{"go.mod": "module tiny\n\ngo 1.26\n", "ref/cmd/tiny/main.go": source} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return mutants.Builder{Root: root, Package: "./ref/cmd/tiny", Out: t.TempDir()}
}

func plant(name, find, replace string, cases ...string) mutants.Fault {
	return mutants.Fault{
		Name: name, Why: "x", Cases: cases,
		Edit: mutants.Edit{File: "ref/cmd/tiny/main.go", Find: find, Replace: replace},
	}
}

var (
	doorOpen = plant("door-open", `"door shut"`, `"door open"`, "ALW-001")
	lampOut  = plant("lamp-out", `"lamp lit"`, `"lamp out"`, "ALW-002")
	both     = plant("both", "shut", "open", "ALW-001", "ALW-002")
	harmless = plant("harmless", "func main() {", "func main() { // same", "ALW-001")
)

// verify runs the program: ALW-001 wants the door shut, ALW-002 the lamp lit.
func verify(ctx context.Context, s mutants.Subject) (report.Verdict, error) {
	out, err := exec.CommandContext(ctx, s.Binary).Output()
	if err != nil {
		return report.Verdict{}, err
	}
	var v report.Verdict
	for id, want := range map[string]string{"ALW-001": "door shut", "ALW-002": "lamp lit", "ALW-003": "lamp lit"} {
		if !slices.ContainsFunc(s.IDs, func(chosen string) bool { return chosen == id || strings.HasPrefix(chosen, id+".") }) {
			continue
		}
		c := report.CaseVerdict{ID: id, Outcome: report.Fail}
		if strings.Contains(string(out), want) {
			c.Outcome = report.Pass
		}
		c.Results = []report.RowVerdict{{Row: "one", Outcome: c.Outcome}, {Row: "two", Outcome: report.Pass}}
		v.Cases = append(v.Cases, c)
	}
	return v, nil
}

// run runs one batch.
func run(t *testing.T, b mutants.Builder, faults []mutants.Fault, verify mutants.Verify, o mutants.Options) mutants.Result {
	t.Helper()
	return mutants.Run(t.Context(), []mutants.Batch{{Builder: b, Faults: faults, Verify: verify}}, o)[0]
}

func TestRun(t *testing.T) {
	row := lampOut
	row.Name, row.Cases = "row", []string{"ALW-002.one"}
	otherRow := lampOut
	otherRow.Name, otherRow.Cases = "other-row", []string{"ALW-002.two"}
	b := builder(t)
	var done atomic.Int32
	r := run(t, b, []mutants.Fault{doorOpen, lampOut, both, harmless, row, otherRow}, verify, mutants.Options{
		Sentinels: []string{"ALW-003"}, Done: func(mutants.Kill) { done.Add(1) },
	})
	var caught []string
	for _, k := range r.Kills {
		if k.Problem != "" {
			t.Errorf("%s: %s", k.Name, k.Problem)
		}
		if k.Caught() {
			caught = append(caught, k.Name)
		}
	}
	if want := []string{"door-open", "lamp-out", "row"}; !slices.Equal(caught, want) {
		t.Errorf("caught %v, want %v", caught, want)
	}
	if r.OK() || r.Control.Problem != "" || done.Load() != 9 { // three are missed, and tried again
		t.Errorf("ok %v, control %q, %d told", r.OK(), r.Control.Problem, done.Load())
	}
	if also := r.Kills[1].Also; len(also) != 1 || also[0].ID != "ALW-003" {
		t.Errorf("lamp-out also turned red %v, want the sentinel", also)
	}
	var table strings.Builder
	if err := mutants.WriteTable(&table, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"door-open  caught  ALW-001\n", "lamp-out   caught  ALW-002                ALW-003\n",
		"both       MISSED  ALW-001 ALW-002(pass)\n", "3 of 6 faults caught; median 1 more checks red\n",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("does not say %q:\n%s", want, table.String())
		}
	}
	if !run(t, b, []mutants.Fault{doorOpen, lampOut}, verify, mutants.Options{}).OK() {
		t.Error("two faults that are caught are not OK")
	}
}

// TestAlone: a fault that is missed among others has a second chance, and is
// marked.
func TestAlone(t *testing.T) {
	tries := 0
	r := run(t, builder(t), []mutants.Fault{doorOpen}, func(ctx context.Context, s mutants.Subject) (report.Verdict, error) {
		v, err := verify(ctx, s)
		if tries++; tries == 2 { // the first is the control
			v.Cases[0].Outcome, v.Cases[0].Results[0].Outcome = report.Pass, report.Pass
		}
		return v, err
	}, mutants.Options{})
	var table strings.Builder
	if err := mutants.WriteTable(&table, r); err != nil {
		t.Fatal(err)
	}
	if !r.OK() || tries != 3 || !strings.Contains(table.String(), "caught alone") {
		t.Errorf("%d tries, and then\n%s", tries, table.String())
	}
}

// TestOnlyFailCatches: a check that could not be concluded has caught nothing.
func TestOnlyFailCatches(t *testing.T) {
	b := builder(t)
	for _, o := range []report.Outcome{report.Error, report.BlockedHost, report.Invalid, report.NA, report.MootDoor, report.Stale} {
		r := run(t, b, []mutants.Fault{doorOpen}, func(ctx context.Context, s mutants.Subject) (report.Verdict, error) {
			v, err := verify(ctx, s)
			for i := range v.Cases {
				if v.Cases[i].Outcome == report.Fail {
					v.Cases[i].Outcome = o
				}
			}
			return v, err
		}, mutants.Options{})
		if r.OK() {
			t.Errorf("%s counts as caught", o)
		}
	}
}

// TestAlso: what the host alone keeps from passing is not the fault's doing.
func TestAlso(t *testing.T) {
	b := builder(t)
	for outcome, also := range map[report.Outcome]int{report.BlockedHost: 0, report.MootDoor: 0, report.Fail: 1, report.Error: 1} {
		r := run(t, b, []mutants.Fault{doorOpen}, func(ctx context.Context, s mutants.Subject) (report.Verdict, error) {
			v, err := verify(ctx, s)
			v.Cases = append(v.Cases, report.CaseVerdict{ID: "MCP-015", Outcome: outcome})
			return v, err
		}, mutants.Options{})
		if !r.OK() || len(r.Kills[0].Also) != also {
			t.Errorf("%s: %+v, want %d more red", outcome, r.Kills, also)
		}
	}
}

// TestControl: a check that is red without a fault says nothing about one.
func TestControl(t *testing.T) {
	b := builder(t)
	tried := 0
	for name, tc := range map[string]struct {
		verify mutants.Verify
		says   string
	}{
		"always red": {func(context.Context, mutants.Subject) (report.Verdict, error) {
			tried++
			return report.Verdict{Cases: []report.CaseVerdict{{ID: "ALW-001", Outcome: report.Fail}}}, nil
		}, "not tried: ALW-001"},
		"no verdict": {func(context.Context, mutants.Subject) (report.Verdict, error) {
			tried++
			return report.Verdict{}, errors.New("no lab")
		}, "no lab"},
		"invalid": {func(context.Context, mutants.Subject) (report.Verdict, error) {
			tried++
			return report.Verdict{Problems: []string{"crashed"}}, nil
		}, "crashed"},
		"not there": {func(context.Context, mutants.Subject) (report.Verdict, error) {
			tried++
			return report.Verdict{}, nil
		}, "ALW-001(not-selected)"},
	} {
		tried = 0
		r := run(t, b, []mutants.Fault{doorOpen}, tc.verify, mutants.Options{})
		if r.OK() || !strings.Contains(r.Control.Problem, tc.says) || tried != 1 {
			t.Errorf("%s: control %q, %d runs; want one that says %q", name, r.Control.Problem, tried, tc.says)
		}
	}
}

func TestBuild(t *testing.T) {
	b := builder(t)
	binary, err := b.Build(t.Context(), doorOpen)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(binary).Output(); err != nil || !strings.Contains(string(out), "door open") {
		t.Errorf("%q, %v", out, err)
	}
	if text, err := os.ReadFile(filepath.Join(b.Root, "ref/cmd/tiny/main.go")); err != nil || string(text) != source {
		t.Errorf("the source was changed: %v", err)
	}
	twoEdits := doorOpen
	twoEdits.Name = "two-edits"
	twoEdits.Also = []mutants.Edit{{File: "ref/cmd/tiny/main.go", Find: "lamp lit", Replace: "lamp out"}}
	binary, err = b.Build(t.Context(), twoEdits)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := exec.Command(binary).Output(); string(out) != "door open\nlamp out\n" {
		t.Errorf("two edits print %q", out)
	}
	for name, tc := range map[string]struct {
		fault mutants.Fault
		says  string
	}{
		"gone":           {plant("gone", "no such block", "x", "ALW-001"), "0 times"},
		"twice":          {plant("twice", "fmt.Println", "x", "ALW-001"), "2 times"},
		"does not build": {plant("bad", `fmt.Println("door shut")`, "lock()", "ALW-001"), "undefined: lock"},
		"no such file":   {mutants.Fault{Name: "nowhere", Edit: mutants.Edit{File: "ref/b.go", Find: "a"}}, "no such file"},
	} {
		if _, err := b.Build(t.Context(), tc.fault); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, tc.says)
		}
	}
}

// TestFull: each fault meets every check, and the matrix shows the empty row.
func TestFull(t *testing.T) {
	r := run(t, builder(t), []mutants.Fault{doorOpen}, verify, mutants.Options{
		Full: true, All: []string{"ALW-001", "ALW-002", "ALW-003"},
	})
	if !r.OK() {
		t.Fatalf("%+v", r)
	}
	text := mutants.MatrixMarkdown(r)
	for _, want := range []string{"| door-open | caught | ALW-001 |  |\n", "| ALW-001 | door-open |\n", "| ALW-002 |  |\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	r.Kills[0].Why = "go build:\n\ta.go:1:\r\n"
	data, err := mutants.MatrixYAML(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := mutants.ParseMatrix(data)
	if err != nil || !back.OK() || len(back.Rows()) != 1 || back.Rows()[0].Named[0] != "ALW-001" ||
		back.Kills[0].Why != r.Kills[0].Why {
		t.Errorf("read back %+v, %v from\n%s", back, err, data)
	}
}

// A fault in a package is linked with what imports it as it was compiled before,
// unless what the package exports has changed.
func TestRelink(t *testing.T) {
	b := builder(t)
	for file, text := range map[string]string{
		"ref/lamp/lamp.go":     "package lamp\n\nconst Lit = \"lit\"\n\n//go:noinline\nfunc State() string {\n\tprintln()\n\treturn \"lit\"\n}\n",
		"ref/cmd/tiny/main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"tiny/ref/lamp\"\n)\n\nfunc main() { fmt.Print(lamp.State(), lamp.Lit) }\n",
	} {
		path := filepath.Join(b.Root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fault := func(name, find, replace string) mutants.Fault {
		return mutants.Fault{Name: name, Why: "x", Cases: []string{"ALW-001"}, Edit: mutants.Edit{File: "ref/lamp/lamp.go", Find: find, Replace: replace}}
	}
	says, ids := map[string]string{}, map[string]string{}
	r := run(t, b, []mutants.Fault{fault("body", `return "lit"`, `return "out"`), fault("constant", `Lit = "lit"`, `Lit = "out"`)},
		func(ctx context.Context, s mutants.Subject) (report.Verdict, error) {
			out, err := exec.CommandContext(ctx, s.Binary).Output()
			id, err2 := exec.CommandContext(ctx, "go", "tool", "buildid", s.Binary).Output()
			record, err3 := buildinfo.ReadFile(s.Binary)
			says[s.Label], ids[s.Label] = string(out), strings.TrimSpace(string(id))
			c := report.CaseVerdict{ID: "ALW-001", Outcome: report.Fail}
			if string(out) == "litlit" {
				c.Outcome = report.Pass
			}
			if err3 == nil && record.Path != "tiny/ref/cmd/tiny" {
				t.Errorf("%s: its record is of %s", s.Label, record.Path)
			}
			return report.Verdict{Cases: []report.CaseVerdict{c}}, errors.Join(err, err2, err3)
		}, mutants.Options{Parallel: 1})
	if !r.OK() || says["body"] != "outlit" || says["constant"] != "litout" {
		t.Errorf("%v: %+v", says, r)
	}
	if ids["original"] == "" || ids["body"] != "" || ids["constant"] == "" { // the go command's own mark
		t.Errorf("build ids %v: want none of what was linked by us, the body", ids)
	}
}
