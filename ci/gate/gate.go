// Package gate judges a change of go-arapuca, of arapuca, or of both together: it
// builds the subjects over the commit that the change began from and over its
// head, and lets bridgecheck compare them.
package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

// NotJudged is what no run of the gate says anything about.
const NotJudged = "Not judged: macOS (Seatbelt), Windows, and micro-VM isolation."

// Request is one change.
type Request struct {
	// GoArapuca and Arapuca are sources as [upstream.Parse] reads them. An empty
	// Arapuca is what is installed, on both sides.
	GoArapuca, Arapuca string
	// Base and ArapucaBase name what the change began from, as a folder or a ref;
	// empty is the merge base with the default branch.
	Base, ArapucaBase string
	// Subjects are those to compare, of [upstream.Subjects].
	Subjects []string
	// Flags go to bridgecheck gate, as --profile bridge. Without any, the checks run
	// in the user cell: agents do, and two cells take twice as long.
	Flags []string
	// Repository is the root of this repository, Program the bridgecheck built of it.
	Repository, Program string
	// Results gets gate.md, one folder for each subject, and base and head with what
	// was built: the lines that say how to run a check again name it.
	Results string
	Cache   upstream.Cache
	// Log gets what tools print; the page goes to Out.
	Log, Out io.Writer
}

// Run returns the exit code of the gate: 0 when the head broke nothing, 1 when it
// did, 4 when that cannot be said; with several subjects, the worst. An error is
// that it did not come so far.
func Run(ctx context.Context, q Request) (int, error) {
	for _, s := range q.Subjects {
		if !slices.Contains(upstream.Subjects, s) {
			return 0, fmt.Errorf("the gate judges %s, not %q", strings.Join(upstream.Subjects, " and "), s)
		}
	}
	dir, err := os.MkdirTemp("", "bridgecheck-gate-*")
	if err != nil {
		return 0, fmt.Errorf("folder for the sources: %w", err)
	}
	defer os.RemoveAll(dir)
	base, head, err := q.sides(ctx, dir)
	if err != nil {
		return 0, err
	}
	for _, s := range []*side{base, head} {
		if err := os.RemoveAll(s.dir); err != nil { // or what an earlier run built would be judged
			return 0, fmt.Errorf("folder of the %s: %w", s.name, err)
		}
		fmt.Fprintf(q.Log, "gate: building the %s: %s\n", s.name, s.text())
		if err := q.build(ctx, dir, s); err != nil {
			return 0, fmt.Errorf("the %s (%s): %w", s.name, s.text(), err)
		}
	}
	return q.compare(ctx, base, head)
}

// compare runs bridgecheck gate for each subject, and puts the pages together.
func (q Request) compare(ctx context.Context, base, head *side) (int, error) {
	worst, broken := 0, base.broken() || head.broken()
	var page strings.Builder
	for _, subject := range q.Subjects {
		results := filepath.Join(q.Results, subject)
		code, err := q.bridgecheck(ctx, base.of(subject, broken), head.of(subject, broken), results)
		if err != nil {
			return 0, err
		}
		worst = max(worst, code)
		text, err := os.ReadFile(filepath.Join(results, "gate", "gate.md"))
		if err != nil {
			return 0, fmt.Errorf("the page of %s: %w; bridgecheck ended with %d before it wrote one", subject, err, code)
		}
		page.Write(text)
		page.WriteString("\n")
		if broken {
			break // the others say the same: nothing was built
		}
	}
	fmt.Fprintf(&page, "base: %s\n\nhead: %s\n\n%s\n", base.text(), head.text(), NotJudged)
	if err := os.WriteFile(filepath.Join(q.Results, "gate.md"), []byte(page.String()), 0o644); err != nil {
		return 0, fmt.Errorf("write the page: %w", err)
	}
	_, err := io.WriteString(q.Out, page.String())
	return worst, err
}

func (q Request) bridgecheck(ctx context.Context, base, head, results string) (int, error) {
	// A page that an earlier run left would be taken for this one's.
	if err := errors.Join(os.RemoveAll(results), os.MkdirAll(results, 0o755)); err != nil {
		return 0, fmt.Errorf("results: %w", err)
	}
	cmd := exec.CommandContext(ctx, q.Program, append([]string{"gate", "--base", base, "--head", head, "--results", results, "--engine", "none", "--cell", "user"}, q.Flags...)...)
	out := &untilPage{to: q.Log}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == report.ExitUsage:
		return 0, fmt.Errorf("bridgecheck gate took its flags for wrong: %s", strings.Join(q.Flags, " "))
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	case err != nil:
		return 0, fmt.Errorf("run %s: %w; make build makes it", q.Program, err)
	}
	return 0, nil
}

// untilPage passes on what bridgecheck tells of its progress. The page that it ends
// with is read from its file, and printed once.
type untilPage struct {
	to   io.Writer
	page bool
}

func (w *untilPage) Write(p []byte) (int, error) {
	if w.page {
		return len(p), nil
	}
	before, _, found := bytes.Cut(p, []byte("## bridgecheck gate"))
	w.page = found
	if n, err := w.to.Write(before); err != nil {
		return n, err
	}
	return len(p), nil
}
