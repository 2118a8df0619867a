package cli

import (
	"fmt"
	"os"
	"slices"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
)

// person is the agent of `run -c FILE -- COMMAND…`: it works in the current
// directory, which it may write, and has a terminal of its own when it is started
// at one.
func person(spec config.Spec, args []string) (*config.Agent, *config.Paths, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, fmt.Errorf("working directory: %w", err)
	}
	paths := &config.Paths{}
	if spec.Paths != nil {
		*paths = *spec.Paths
	}
	if dir == "/" {
		return nil, nil, fmt.Errorf("the working directory is /; change to the directory the agent is to work in")
	}
	if !slices.Contains(paths.RO, dir) && !slices.Contains(paths.RW, dir) {
		paths.RW = append(slices.Clone(paths.RW), dir)
	}
	agent := &config.Agent{
		Path: args[0], Args: args[1:], Cwd: dir,
		TTY: ref.AtTerminal(os.Stdin) && ref.AtTerminal(os.Stdout),
	}
	return agent, paths, nil
}
