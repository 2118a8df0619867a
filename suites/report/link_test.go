package report

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var (
	fits  = Link{Binding: Part{"go-arapuca", "0.2.5"}, Library: Part{"arapuca", "0.2.8"}, Wrapper: Part{"arapuca", "0.2.8"}}
	lacks = Link{
		Binding: Part{"go-arapuca", "0.2.5"}, Library: Part{"arapuca", "0.2.4"}, Wrapper: Part{"arapuca", "0.2.4"},
		Missing: []string{"arapuca_set_exec"}, Needs: "≥ 0.2.7",
	}
	skewed = Link{Binding: fits.Binding, Library: fits.Library, Wrapper: Part{"arapuca", "0.2.4"}}
)

func TestLinkIsReadBack(t *testing.T) {
	dir := t.TempDir()
	for _, place := range []string{dir, filepath.Join(dir, "none"), os.Args[0]} {
		if l, err := ReadLink(place); l != nil || err != nil {
			t.Errorf("no file in %s: %v, %v", place, l, err)
		}
	}
	if err := WriteLink(dir, lacks); err != nil {
		t.Fatal(err)
	}
	want := lacks
	want.Format = Format
	if l, err := ReadLink(dir); err != nil || !reflect.DeepEqual(*l, want) {
		t.Errorf("%+v, %v; want %+v", l, err, want)
	}
	for _, text := range []string{"format: 1\n", "format: 9\nbinding: {name: a}\nlibrary: {name: b}\n", "format: 1\nfits: yes\n", "- 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, LinkFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := ReadLink(dir); err == nil {
			t.Errorf("%q was read as %+v", text, l)
		}
	}
}

// TestCompareLinked: parts that do not fit are a finding, by the side they are on.
func TestCompareLinked(t *testing.T) {
	ran := []Verdict{run(nil)}
	for _, tt := range []struct {
		name       string
		base, head *Link
		baseRuns   []Verdict
		headRuns   []Verdict
		section    string
		text       string
		exit       int
	}{
		{"nobody looked", nil, nil, ran, ran, "", "open", 0},
		{"both fit", &fits, &fits, ran, ran, "", "open", 0},
		{"the head needs a newer library", &fits, &lacks, ran, nil, "Broken", "needs arapuca ≥ 0.2.7", 1},
		{"the head runs another wrapper", &fits, &skewed, ran, nil, "Broken", "the program it runs is arapuca 0.2.4", 1},
		{"the head fits again", &lacks, &fits, nil, ran, "Mended", "LINK", 0},
		{"neither", &lacks, &lacks, nil, nil, "Nothing can be concluded", "neither side could be built", 4},
		{"the head fits and was not run", &lacks, &fits, nil, nil, "Mended", "LINK", 0},
		{"the base is not known at all", nil, &lacks, nil, nil, "Nothing can be concluded", "neither a run nor", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := CompareLinked(tt.base, tt.head, tt.baseRuns, tt.headRuns)
			page := g.Page()
			if g.Exit() != tt.exit || !strings.Contains(page, tt.text) || tt.section != "" && !strings.Contains(page, "### "+tt.section) {
				t.Errorf("exit %d, want %d with %q under %q:\n%s", g.Exit(), tt.exit, tt.text, tt.section, page)
			}
		})
	}
}
