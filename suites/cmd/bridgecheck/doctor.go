package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"bridgecheck/containers"
)

// doctorCommand says where the checks can run here; what a bridge can do on
// this host is the reference bridge's own doctor's to say.
func doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Show what this host can give to a run",
		Example: "  bridgecheck doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if engine, err := containers.Find(cmd.Context()); err != nil {
				fmt.Fprintf(out, "engine  none: %v\n", err)
			} else {
				fmt.Fprintf(out, "engine  %s\n", engine)
			}
			bin, err := binDir()
			if err != nil {
				return harness(err)
			}
			bridge := exec.CommandContext(cmd.Context(), filepath.Join(bin, shipped["ref-native"].program), "doctor")
			bridge.Stdout, bridge.Stderr = out, os.Stderr
			if err := bridge.Run(); err != nil {
				return exitError{3, fmt.Errorf("the reference bridge's doctor: %w", err)}
			}
			return nil
		},
	}
}
