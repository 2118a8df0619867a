package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
)

func describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe",
		Short: "Print what this bridge claims, as JSON",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := untilSignal()
			defer stop()
			description, err := ref.Describe(ctx, version, launcher)
			if err != nil {
				return err
			}
			return printJSON(description)
		},
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
				screen{Writer: os.Stderr}.wrong(file, err) // all of it, however long
				return exitCode(1)
			}
			fmt.Printf("%s: ok\n", file)
			return nil
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "soda.yaml", "file to check")
	return c
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of soda.yaml, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Schema()
			if err == nil {
				_, err = os.Stdout.Write(text)
			}
			return err
		},
	}
}

func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
