package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bridgecheck/suites/report"
)

// Wrongs are the ways in which a subject can be wrong as a whole; the program
// wrong is linked once for each.
var Wrongs = []string{
	"no-sandbox", "no-agent", "other-agent", "swallows-output", "old-answers",
	"hangs", "crashes", "floods", "other-json", "leaves-early",
}

// wrongIDs are the checks that a wrong subject meets: any will do, since none
// may pass. Few, because a subject that hangs uses up the cap of each.
var wrongIDs = []string{"ALW-002", "LPB-003"}

// tryWrong verifies a wrong subject. It is caught when the verdict is red and
// each check failed, or ended as an error of the harness; one that passed, or
// was left out, is what must never happen.
func tryWrong(ctx context.Context, k *Kill, binary string, verify Verify) {
	v, err := verify(ctx, Subject{Label: k.Name, Binary: binary, IDs: wrongIDs})
	if err != nil {
		k.Problem = err.Error()
		return
	}
	for _, id := range wrongIDs {
		seen := Seen{ID: id, Outcome: outcome(v, id)}
		if v.Exit != report.ExitConformant && slices.Contains([]report.Outcome{report.Error, report.Invalid}, seen.Outcome) {
			seen.Outcome = report.Fail // red, whoever is blamed
		}
		k.Named = append(k.Named, seen)
	}
}

func (b Builder) wrong(ctx context.Context, kind string) (string, error) {
	dir := filepath.Join(b.Out, "wrong-"+kind)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("wrong subject %s: %w", kind, err)
	}
	binary := filepath.Join(dir, "wrong")
	_, err := b.goCommand(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.kind="+kind, "-o", binary, "./suites/mutants/wrong")
	if err != nil {
		return "", fmt.Errorf("wrong subject %s: %w", kind, err)
	}
	return binary, nil
}
