package gate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

// answers is a program in the place of bridgecheck: it notes what it was called
// with, writes a page and ends with a code.
func answers(t *testing.T, code string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridgecheck")
	script := `#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" != --results ] || results=$2; shift; done
mkdir -p "$results/gate"
echo "page of ${results##*/}" > "$results/gate/gate.md"
echo progress
printf '## bridgecheck gate\nthe page\n'
echo end
exit $(` + code + `)
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExitAndPage: one page for all subjects, and the worst of their codes.
func TestExitAndPage(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       int
		fails      string
	}{
		{"open", "echo 0", 0, ""},
		{"one of two closed", `case $results in *-hosts) echo 1;; *) echo 0;; esac`, 1, ""},
		{"one cannot be judged", `case $results in *-hosts) echo 0;; *) echo 4;; esac`, 4, ""},
		{"wrong flags", "echo 2", 0, "took its flags for wrong"},
		{"killed", "kill -9 $$", 0, "signal: killed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var page, log bytes.Buffer
			results := t.TempDir()
			q := Request{Subjects: upstream.Subjects, Program: answers(t, tt.code), Results: results, Log: &log, Out: &page}
			code, err := q.compare(t.Context(), &side{}, &side{})
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("%v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil || code != tt.want {
				t.Fatalf("exit %d, %v; want %d\n%s", code, err, tt.want, &log)
			}
			if want := strings.Repeat("progress\n", len(upstream.Subjects)); log.String() != want {
				t.Errorf("the log is %q, want %q", &log, want)
			}
			file, err := os.ReadFile(filepath.Join(results, "gate.md"))
			if err != nil || string(file) != page.String() {
				t.Errorf("gate.md differs from what was printed: %v", err)
			}
			for _, subject := range upstream.Subjects {
				if !strings.Contains(page.String(), "page of "+subject+"\n") {
					t.Errorf("the page has nothing of %s:\n%s", subject, &page)
				}
			}
		})
	}
}

// TestUnlinkedSideIsNamedByItsFolder: what was not built is told once, by its link
// verdict.
func TestUnlinkedSideIsNamedByItsFolder(t *testing.T) {
	lacks := &report.Link{Missing: []string{"arapuca_launch"}}
	head := &side{dir: "head", link: lacks}
	if head.of("ref-arapuca", true) != "head" || head.of("ref-arapuca", false) != "head/ref-arapuca" {
		t.Error("bridgecheck is given the wrong thing")
	}
	var page, log bytes.Buffer
	q := Request{Subjects: upstream.Subjects, Program: answers(t, "echo 1"), Results: t.TempDir(), Log: &log, Out: &page}
	if code, err := q.compare(t.Context(), &side{}, head); err != nil || code != 1 || strings.Count(page.String(), "page of") != 1 {
		t.Errorf("%d, %v:\n%s", code, err, &page)
	}
}
