package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/mutants"
	"bridgecheck/suites/report"
	"bridgecheck/suites/runner"
	"bridgecheck/suites/subject"
)

// verifier runs faulty subjects in labs of this machine: an engine would add
// nothing but time. What they print goes to a file beside their facts.
func verifier(bin, dir string) mutants.Verify {
	return func(ctx context.Context, s mutants.Subject) (report.Verdict, error) {
		if _, err := subject.Describe(ctx, s.Binary); err != nil {
			return report.Verdict{}, err
		}
		results := filepath.Join(dir, s.Label)
		if err := os.MkdirAll(results, 0o755); err != nil {
			return report.Verdict{}, fmt.Errorf("results: %w", err)
		}
		log, err := os.Create(filepath.Join(results, "log.txt"))
		if err != nil {
			return report.Verdict{}, fmt.Errorf("results: %w", err)
		}
		defer log.Close()
		q := runner.Request{
			Bin: bin, Subject: s.Binary, Select: s.IDs, Cells: []string{runner.UserCell},
			Results: results, Shards: shardsFor(s.IDs), Seed: 1,
		}
		opts := report.Options{
			Selection: s.IDs, Registered: catalog.All(), SubjectIsOurs: true,
			SubjectArg: s.Binary, Label: s.Label, Cells: q.Cells, Moot: mootDoors,
		}
		facts, err := runner.Run(ctx, q, log, io.Discard)
		if asRoot := needRoot(s.IDs); len(asRoot) > 0 && err == nil {
			q.Select, q.Cells = asRoot, []string{runner.RootCell}
			var more []report.Facts
			more, err = runner.Run(ctx, q, log, io.Discard)
			facts, opts.Cells = append(facts, more...), append(opts.Cells, runner.RootCell)
		}
		if err != nil {
			opts.Problems = append(opts.Problems, err.Error())
		}
		return report.Judge(facts, opts), nil
	}
}

// shardsFor divides a long list, as the control's: a fault has few checks.
func shardsFor(ids []string) int {
	if len(ids) > 20 {
		return 2
	}
	return 1
}

// needRoot are the checks, or rows, that only a root cell can run as a whole.
func needRoot(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		check, _, _ := strings.Cut(id, ".")
		c, _ := catalog.Get(check)
		needs := slices.Concat(c.Host, c.RowHost)
		return !slices.Contains(needs, catalog.HostRoot) && !slices.Contains(needs, catalog.HostTwoUIDs)
	})
}
