package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"bridgecheck/suites/kit"
	"bridgecheck/suites/runner"
)

// cellCommand is the entry of a container: it runs one cell.
func cellCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cell", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var o runner.CellOrder
			if err := fromEnv(runner.OrderEnv, &o); err != nil {
				return harness(err)
			}
			if err := runner.RunCell(cmd.Context(), o, true, os.Stdout, os.Stderr); err != nil {
				return harness(err)
			}
			return nil
		},
	}
}

// suiteCommand runs one shard's checks; it is started in a lab.
func suiteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "suite", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var cfg kit.Config
			if err := fromEnv(runner.SuiteEnv, &cfg); err != nil {
				return harness(err)
			}
			out, err := divertStdout(filepath.Join(filepath.Dir(cfg.Facts), "ginkgo.txt"))
			if err != nil {
				return harness(err)
			}
			if err := kit.Run(cmd.Context(), cfg, out); err != nil {
				return harness(err)
			}
			return nil
		},
	}
}

func fromEnv(name string, v any) error {
	if err := json.Unmarshal([]byte(os.Getenv(name)), v); err != nil {
		return fmt.Errorf("%s: %w; this command is run by bridgecheck itself", name, err)
	}
	return nil
}

// divertStdout sends what is written to descriptor 1 from now on to a file, for
// Ginkgo knows no other place for its report, and returns what it was.
func divertStdout(path string) (*os.File, error) {
	stdout, err := unix.Dup(unix.Stdout)
	if err != nil {
		return nil, fmt.Errorf("divert output: %w", err)
	}
	unix.CloseOnExec(stdout)
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("divert output: %w", err)
	}
	defer file.Close()
	if err := unix.Dup3(int(file.Fd()), unix.Stdout, 0); err != nil {
		return nil, fmt.Errorf("divert output: %w", err)
	}
	return os.NewFile(uintptr(stdout), "stdout"), nil
}
