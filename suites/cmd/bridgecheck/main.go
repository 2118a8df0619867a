// Command bridgecheck verifies that a sandbox lets an AI coding agent reach its
// MCP servers and nothing else.
//
// Exit codes: 0 conformant, 1 not, 2 usage, 3 this host cannot, 4 the harness or
// the subject could not be used at all.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"bridgecheck/suites/lab"
	"bridgecheck/suites/report"

	// The areas register their checks.
	_ "bridgecheck/suites/adapter"
	_ "bridgecheck/suites/agents"
	_ "bridgecheck/suites/allowlist"
	_ "bridgecheck/suites/arapuca"
	_ "bridgecheck/suites/claims"
	_ "bridgecheck/suites/escape"
	_ "bridgecheck/suites/fallback"
	_ "bridgecheck/suites/lifecycle"
	_ "bridgecheck/suites/loopback"
	_ "bridgecheck/suites/relay"
	_ "bridgecheck/suites/routes"
)

// exitError ends the program with a code and, when it has one, a sentence.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

func harness(err error) error { return exitError{report.ExitHarness, err} }

func main() {
	lab.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	var exit exitError
	if !errors.As(err, &exit) {
		exit = exitError{report.ExitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintln(os.Stderr, "bridgecheck:", exit.err)
	}
	os.Exit(exit.code)
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bridgecheck",
		Short: "Does this sandbox let an agent reach its MCP servers and nothing else?",
		Long: `bridgecheck runs black-box checks with permanent ids against a subject: an
executable that speaks the contract in suites/CONTRACT.md. The reference bridge,
ref-native, is one.`,
		Example: `  bridgecheck verify
  bridgecheck verify --subject ./my-sandbox --id ALW-002
  bridgecheck explain ALW-002`,
		Version:           version(),
		PersistentPreRunE: noneEmpty,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
	}
	cmd.AddCommand(verifyCommand(), mutantsCommand(), listCommand(), explainCommand(), reportCommand(), gateCommand(), subjectCommand(), doctorCommand(), soakCommand(), cellCommand(), suiteCommand(), soakHereCommand())
	return cmd
}
