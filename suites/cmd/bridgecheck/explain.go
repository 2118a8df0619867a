package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"bridgecheck/suites/catalog"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain ID",
		Short:   "Say what a check demands, of whom, and how to run it",
		Example: "  bridgecheck explain ALW-002",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, _, _ := strings.Cut(args[0], ".")
			c, ok := catalog.Get(id)
			if !ok {
				return fmt.Errorf("there is no check %q; `bridgecheck list` shows all", args[0])
			}
			fmt.Fprint(cmd.OutOrStdout(), catalog.Explain(c))
			return nil
		},
	}
}
