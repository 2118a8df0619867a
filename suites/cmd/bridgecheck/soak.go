package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"bridgecheck/suites/lab"
	"bridgecheck/suites/report"
	"bridgecheck/suites/runner"
	"bridgecheck/suites/soak"
)

// soakEnv holds a [soak.Config] as JSON, for the soak of one cell in its lab.
const soakEnv = "BRIDGECHECK_SOAK"

func soakCommand() *cobra.Command {
	var of string
	cfg := soak.Config{For: 10 * time.Minute, Seed: 1}
	cmd := &cobra.Command{
		Use:     "soak",
		Short:   "End a subject's phases in every way for a long time, and look what it leaves",
		Example: "  bridgecheck soak --for 10m",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cfg.For <= 0 {
				return fmt.Errorf("--for is longer than nothing, not %s", cfg.For)
			}
			bin, err := binDir()
			if err != nil {
				return harness(err)
			}
			sub, err := findSubject(of, bin)
			if err != nil {
				return err
			}
			return soakCells(cmd.Context(), bin, sub, cfg)
		},
	}
	cmd.Flags().StringVar(&of, "subject", "ref-native", "subject by name or by path of an executable")
	cmd.Flags().DurationVar(&cfg.For, "for", cfg.For, "how long")
	cmd.Flags().Uint64Var(&cfg.Seed, "seed", cfg.Seed, "of what is left to chance")
	return cmd
}

// soakCells soaks in both cells at the same time, each in a lab of this machine.
func soakCells(ctx context.Context, bin string, sub target, cfg soak.Config) error {
	var ns unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &ns); err != nil {
		return harness(fmt.Errorf("this network namespace: %w", err))
	}
	cfg.HostNetNS = ns.Ino
	self, err := os.Executable()
	if err != nil {
		return harness(err)
	}
	programs := map[string]string{
		"bridgecheck": self, "subject": sub.path, "probe": filepath.Join(bin, "probe"), "fakemcp": filepath.Join(bin, "fakemcp"),
	}
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, cell := range []string{runner.UserCell, runner.RootCell} {
		cfg := cfg
		cfg.Cell = cell
		wg.Go(func() { errs[i] = soakCell(ctx, programs, cfg) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func soakCell(ctx context.Context, programs map[string]string, cfg soak.Config) error {
	at := func(name string) string { return lab.Root + "/bin/" + name }
	cfg.Subject, cfg.Probe, cfg.FakeMCP, cfg.Work = at("subject"), at("probe"), at("fakemcp"), lab.Root+"/work/soak"
	raw, err := json.Marshal(cfg)
	if err != nil {
		return harness(err)
	}
	results, err := os.MkdirTemp("", "bridgecheck-soak-")
	if err != nil {
		return harness(err)
	}
	defer os.RemoveAll(results)
	uid, gid := lab.UserCell(cfg.Cell == runner.RootCell)
	code, err := lab.Start(ctx, lab.Order{
		Programs: programs, Out: results, UID: uid, GID: gid,
		Args: []string{at("bridgecheck"), "soak-here"},
		Env:  []string{soakEnv + "=" + string(raw), "PATH=/usr/bin:/bin"},
	}, false, os.Stdout, os.Stderr)
	if err == nil && code != 0 {
		return exitError{code: report.ExitNot}
	}
	if err != nil {
		return harness(err)
	}
	return nil
}

// soakHereCommand soaks in the lab that it is started in.
func soakHereCommand() *cobra.Command {
	return &cobra.Command{
		Use: "soak-here", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var cfg soak.Config
			if err := fromEnv(soakEnv, &cfg); err != nil {
				return harness(err)
			}
			if err := soak.Run(cmd.Context(), cfg, os.Stdout); err != nil {
				return exitError{report.ExitNot, err}
			}
			return nil
		},
	}
}
