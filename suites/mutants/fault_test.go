package mutants_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/mutants"
)

const good = "name: open\nwhy: It lets all through.\nfile: ref/a.go\nfind: |\n  \treturn false\nreplace: |\n  \treturn true\ncases: [ALW-002, ALW-012.cgnat]\n"

func load(name, text string) ([]mutants.Fault, error) {
	return mutants.LoadFS(fstest.MapFS{"faults/" + name: {Data: []byte(text)}})
}

func TestLoad(t *testing.T) {
	all, err := load("open.yaml", good)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	f := all[0]
	if f.Find != "\treturn false\n" || f.Replace != "\treturn true\n" || f.File != "ref/a.go" || f.Cases[1] != "ALW-012.cgnat" {
		t.Errorf("read %+v", f)
	}
	for name, text := range map[string]string{
		"another name": strings.Replace(good, "name: open", "name: closed", 1),
		"no why":       strings.Replace(good, "It lets all through.", `""`, 1),
		"no cases":     strings.Replace(good, "[ALW-002, ALW-012.cgnat]", "[]", 1),
		"outside ref":  strings.Replace(good, "ref/a.go", "suites/a.go", 1),
		"climbs":       strings.Replace(good, "ref/a.go", "ref/../suites/a.go", 1),
		"not Go":       strings.Replace(good, "ref/a.go", "ref/a.txt", 1),
		"find empty":   strings.Replace(good, "\treturn false", "", 1),
		"no change":    strings.Replace(good, "return true", "return false", 1),
		"unknown key":  good + "colour: red\n",
		"also is bad":  good + "also: [{file: x.go, find: a, replace: b}]\n",
		"not YAML":     "name: [",
	} {
		if all, err := load("open.yaml", text); err == nil {
			t.Errorf("%s: read as %+v", name, all)
		}
	}
	if _, err := load("Open_Proxy.yaml", strings.Replace(good, "name: open", "name: Open_Proxy", 1)); err == nil {
		t.Error("a name in capitals was read")
	}
}

// TestLoadBlocks: Go as it is written, tabs and all, in nested edits too.
func TestLoadBlocks(t *testing.T) {
	all, err := load("open.yaml", "name: open\nwhy: x\nfile: ref/a.go\nfind: |\n  \tif x {\n  \t\treturn false\n\n  \t}\nreplace: |\n  \tif y {\n"+
		"also:\n- file: ref/b.go\n  find: |\n    import (\n    \t\"net\"\n  replace: |\n    \t\"net\"\n    \t\"os\"\n    )\ncases: [ALW-002]\n")
	if err != nil {
		t.Fatal(err)
	}
	f := all[0]
	if f.Find != "\tif x {\n\t\treturn false\n\n\t}\n" || f.Replace != "\tif y {\n" {
		t.Errorf("find %q, replace %q", f.Find, f.Replace)
	}
	if e := f.Also[0]; e.Find != "import (\n\t\"net\"\n" || e.Replace != "\t\"net\"\n\t\"os\"\n)\n" || e.File != "ref/b.go" {
		t.Errorf("also %+v", e)
	}
}

// TestShipped: the faults that are compiled in can all be read, and each of their
// blocks still occurs once in ref.
func TestShipped(t *testing.T) {
	all, err := mutants.Load()
	if err != nil {
		t.Fatal(err)
	}
	b := mutants.Builder{Root: "../.."}
	for _, f := range all {
		if err := b.Applies(f); err != nil {
			t.Error(err)
		}
	}
}

func TestCheck(t *testing.T) {
	cases := []catalog.Case{
		{ID: "ALW-002", Faults: []string{"open"}},
		{ID: "ALW-012", Faults: []string{"open"}, Rows: []string{"cgnat"}},
	}
	fault := func(ids ...string) mutants.Fault { return mutants.Fault{Name: "open", Cases: ids} }
	for name, tc := range map[string]struct {
		faults []mutants.Fault
		says   string
	}{
		"both ways":       {[]mutants.Fault{fault("ALW-002", "ALW-012.cgnat")}, ""},
		"no such fault":   {nil, "check ALW-002 names fault open, and there is no"},
		"not named back":  {[]mutants.Fault{fault("ALW-002")}, "check ALW-012 names fault open, which does not name it back"},
		"no such check":   {[]mutants.Fault{fault("ALW-002", "ALW-012", "ALW-099")}, "check ALW-099, which does not exist"},
		"no such row":     {[]mutants.Fault{fault("ALW-002", "ALW-012.ula")}, "row ALW-012.ula"},
		"check is silent": {[]mutants.Fault{fault("ALW-002", "ALW-012"), {Name: "shut", Cases: []string{"ALW-002"}}}, "fault shut names check ALW-002, which does not name it back"},
	} {
		err := mutants.Check(tc.faults, cases)
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, tc.says)
		}
	}
}
