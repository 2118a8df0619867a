package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bridgecheck/suites/mutants"
	"bridgecheck/suites/report"
)

// reportCommand shows a verdict again. It judges nothing: the exit code is the
// one the verdict was given.
func reportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "report [FOLDER]",
		Short:   "Show the verdict of an earlier run, and write its page anew",
		Example: "  bridgecheck report results/ref-native",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := filepath.Join("results", "ref-native")
			if len(args) == 1 {
				dir = args[0]
			}
			v, err := report.ReadYAML(filepath.Join(dir, "verdict.yaml"))
			if err != nil {
				return harness(err)
			}
			return show(dir, v)
		},
	}
	cmd.AddCommand(mergeCommand())
	return cmd
}

// show writes everything that is made from a verdict, and ends with its code.
func show(dir string, v report.Verdict) error {
	kills, err := lastKills(dir, v)
	if err != nil {
		return harness(err)
	}
	err = errors.Join(
		report.WriteJUnit(filepath.Join(dir, "junit.xml"), v),
		report.WriteSummary(filepath.Join(dir, "summary.md"), v),
		report.WriteHTML(filepath.Join(dir, "report.html"), v, report.HTMLOptions{Evidence: os.DirFS(dir), Kills: kills.Rows(), KillsSay: kills.Sentence()}),
		report.WriteText(os.Stdout, v, report.TextOptions{Color: report.UseColor(os.Stdout), Dir: dir}),
	)
	if err != nil {
		return harness(err)
	}
	if v.Exit != 0 {
		return exitError{code: v.Exit}
	}
	return nil
}

// lastKills are the planted faults of the last `bridgecheck mutants` beside these
// results; they are faults of the reference bridge and say nothing of others.
func lastKills(dir string, v report.Verdict) (mutants.Result, error) {
	if !v.Subject.Ours {
		return mutants.Result{}, nil
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Clean(dir)), "mutants", "matrix.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return mutants.Result{}, nil
	}
	if err != nil {
		return mutants.Result{}, fmt.Errorf("read the last kill matrix: %w", err)
	}
	return mutants.ParseMatrix(data)
}
