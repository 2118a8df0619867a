package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bridgecheck/suites/report"
)

func mergeCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge FOLDER...",
		Short: "Put all verdicts below the folders on one page: version by check",
		Long: `merge reads every verdict below the folders, orders the runs of each subject by
their versions, and writes what differs between neighbours, then everything. It
prints the page as Markdown and judges nothing: it exits with 0 when it could read
all of them.`,
		Example: "  bridgecheck report merge results/matrix",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := report.Merge(args)
			if err != nil {
				return harness(err)
			}
			page, err := m.HTML()
			if err != nil {
				return harness(err)
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return harness(err)
			}
			err = errors.Join(
				os.WriteFile(filepath.Join(out, "merged.md"), []byte(m.Page()), 0o644),
				os.WriteFile(filepath.Join(out, "merged.html"), page, 0o644),
			)
			if err != nil {
				return harness(err)
			}
			fmt.Print(m.Page())
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", filepath.Join("results", "merged"), "folder for merged.md and merged.html")
	return cmd
}
