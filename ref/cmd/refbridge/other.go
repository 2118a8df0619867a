package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/plan"
)

func describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe",
		Short: "Print what this bridge claims, as JSON",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return printJSON(ref.Describe(version)) },
	}
}

func validateCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "validate -c FILE",
		Short: "Check a soda.yaml and start nothing",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if _, err := config.ParseSODA(file, data, os.LookupEnv); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return exitCode(1)
			}
			fmt.Printf("%s: ok\n", file)
			return nil
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "soda.yaml", "file to check")
	return c
}

func doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find out, by doing, which layers this host can give",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			host := ref.Probe(c.Context())
			if asJSON {
				return printJSON(host)
			}
			return printHost(os.Stdout, host)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// printHost says for each layer whether it is there, and if not what to do.
func printHost(out io.Writer, host plan.Host) error {
	for _, row := range []struct {
		layer   string
		missing *plan.Missing
	}{
		{"user, PID and mount namespace", host.UserNS}, {"network namespace", host.NetNS},
		{"Landlock", host.Landlock}, {"system call filter", host.Seccomp},
	} {
		if row.missing == nil {
			fmt.Fprintf(out, "%-30s ok\n", row.layer)
			continue
		}
		fmt.Fprintf(out, "%-30s missing: %s: %s\n", row.layer, row.missing.Stage, row.missing.Errno)
		for _, cause := range row.missing.Causes {
			fmt.Fprintf(out, "    perhaps %s\n", cause)
		}
	}
	return nil
}
