package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bridgecheck/suites/report"
)

// reportCommand shows a verdict again. It judges nothing: the exit code is the
// one the verdict was given.
func reportCommand() *cobra.Command {
	return &cobra.Command{
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
}

// show writes everything that is made from a verdict, and ends with its code.
func show(dir string, v report.Verdict) error {
	err := errors.Join(
		report.WriteJUnit(filepath.Join(dir, "junit.xml"), v),
		report.WriteSummary(filepath.Join(dir, "summary.md"), v),
		report.WriteHTML(filepath.Join(dir, "report.html"), v, report.HTMLOptions{Evidence: os.DirFS(dir)}),
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
