package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"bridgecheck/suites/runner"
)

// firstIDs are the checks an author of a subject runs first: that it describes
// itself, runs an agent and tells its end, passes its streams through, refuses
// what it cannot do, ends when told to and writes events that can be read.
var firstIDs = []string{"CAP-001", "CAP-002", "CAP-005", "LIF-007", "LIF-010", "LIF-011"}

func subjectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "subject", Short: "For authors of subjects", Example: "  bridgecheck subject selftest ./my-sandbox",
		RunE: func(*cobra.Command, []string) error { return errors.New("subject needs a verb: selftest") },
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "selftest PATH",
		Short:   "Run the few checks that everything else stands on",
		Example: "  bridgecheck subject selftest ./my-sandbox",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return selftest(cmd.Context(), args[0])
		},
	})
	return cmd
}

func selftest(ctx context.Context, path string) error {
	f := verifyFlags{
		selection: selection{ids: firstIDs}, subject: path, results: "results",
		engine: "none", cells: []string{runner.UserCell}, seed: 1,
	}
	return f.run(ctx)
}
