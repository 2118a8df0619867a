package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noneEmpty refuses a flag or an argument that is given and says nothing, as by
// a variable of a script that is empty: left out, most of them mean everything.
func noneEmpty(cmd *cobra.Command, args []string) error {
	var empty error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if len(values) == 0 || slices.Contains(values, "") {
			empty = errors.Join(empty, fmt.Errorf("--%s is empty: give it a value, or leave the flag out", f.Name))
		}
	})
	if slices.Contains(args, "") {
		empty = errors.Join(empty, fmt.Errorf("an argument of %s is empty", cmd.CommandPath()))
	}
	return empty
}
