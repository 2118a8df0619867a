package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bridgecheck/ref"
	"bridgecheck/ref/adapter"
	"bridgecheck/ref/config"
)

// stdioCommand stands in a server's place for an agent that starts its servers
// itself: inside the sandbox it carries its own stdio to the server's socket.
func stdioCommand() *cobra.Command {
	var socket string
	c := &cobra.Command{
		Use:   "stdio NAME",
		Short: "Be the MCP server NAME on stdin and stdout, inside the sandbox",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			variable := "BRIDGE_SERVER_" + config.EnvName(args[0]) + "_SOCKET"
			if socket == "" {
				socket = os.Getenv(variable)
			}
			if socket == "" {
				return fmt.Errorf("stdio: no socket of server %q is known; give --socket, or keep %s in the environment", args[0], variable)
			}
			ctx, stop := untilSignal()
			defer stop()
			err := adapter.Pipe(ctx, socket, os.Stdin, os.Stdout)
			if told, ok := errors.AsType[*ref.SignalError](context.Cause(ctx)); ok {
				return exitCode(128 + int(told.Signal))
			}
			if err != nil {
				return fmt.Errorf("stdio of server %q: %w", args[0], err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&socket, "socket", "", "path of the server's socket; default is what the environment says")
	return c
}
