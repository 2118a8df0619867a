package main

import (
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bridgecheck/suites/catalog"
)

func listCommand() *cobra.Command {
	var asJSON, write bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the checks",
		Example: "  bridgecheck list\n  bridgecheck list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case write:
				return writeCatalogue()
			case asJSON:
				data, err := catalog.JSON(catalog.All())
				if err != nil {
					return harness(err)
				}
				_, err = cmd.OutOrStdout().Write(data)
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, c := range catalog.All() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", c.ID, c.Level, c.Title)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what cases.json holds")
	cmd.Flags().BoolVar(&write, "write", false, "write suites/CASES.md and suites/cases.json anew")
	return cmd
}

// catalogueDir is where the generated lists lie, from the repository's root.
const catalogueDir = "suites"

func writeCatalogue() error {
	asJSON, err := catalog.JSON(catalog.All())
	if err != nil {
		return harness(err)
	}
	for name, data := range map[string][]byte{"CASES.md": catalog.Markdown(catalog.All()), "cases.json": asJSON} {
		if err := os.WriteFile(filepath.Join(catalogueDir, name), data, 0o644); err != nil {
			return harness(fmt.Errorf("list: %w; run it in the root of the repository", err))
		}
	}
	return nil
}
