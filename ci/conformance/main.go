package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed differences.yaml
var differencesYAML []byte

func main() {
	build := flag.String("build", "build", "`folder` of the programs")
	subject := flag.String("subject", "", "`program` that is the bridge; refbridge of that folder by default")
	results := flag.String("results", "results/conformance", "`folder` for what the suite says")
	only := flag.String("only", "", "runs whose name contains `text`, as server, 0.2/2026-07-28 or agent codex")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := start(ctx, *build, *subject, *results, *only, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	os.Exit(code)
}

// start returns the exit code: 0 the same but for what is explained, 1 not so,
// 2 wrong usage or a broken run.
func start(ctx context.Context, build, subject, results, only string, args []string) (int, error) {
	if len(args) == 3 && slices.Contains([]string{callsVerb, sessionsVerb, badVerb, tryVerb}, args[0]) {
		if err := measure(ctx, args[0], args[1], args[2]); err != nil {
			return 2, err
		}
		return 0, nil
	}
	tools, err := findTools(build, subject)
	if err != nil {
		return 2, err
	}
	if len(args) == 4 && args[0] == insideVerb { // DIR DOOR URL, the last added by the suite
		code, err := inside(ctx, tools, args[1], args[2], args[3])
		return code, err
	}
	if results, err = filepath.Abs(results); err != nil {
		return 2, err
	}
	switch {
	case len(args) == 1 && args[0] == gatewaysVerb:
		if err := compareGateways(ctx, tools, results); err != nil {
			return 2, err
		}
		return 0, nil
	case len(args) == 1 && args[0] == agentsVerb:
		return code(driveAgents(ctx, tools, results, only))
	case len(args) > 0:
		return 2, errors.New("the one argument is gateways or agents; see -help")
	}
	explanations, err := parseExplanations(differencesYAML)
	if err != nil {
		return 2, err
	}
	rows, err := all(ctx, tools, results, only, explanations)
	if err != nil {
		return 2, err
	}
	text, red := report(rows, explanations, only == "")
	fmt.Print(text)
	if err := writeJSON(filepath.Join(results, "conformance.json"), facts(rows)); err != nil {
		return 2, err
	}
	if err := os.WriteFile(filepath.Join(results, "conformance.md"), []byte(text), 0o600); err != nil {
		return 2, err
	}
	return code(red, nil)
}

func code(red bool, err error) (int, error) {
	switch {
	case err != nil:
		return 2, err
	case red:
		return 1, nil
	}
	return 0, nil
}

// all runs every suite on both sides; each bridged run is compared with the
// direct one of its own side and suite.
func all(ctx context.Context, tools tools, results, only string, explanations []*explanation) (rows []row, err error) {
	for _, side := range []string{"server", "client"} {
		for _, s := range suites {
			if !strings.Contains(side+" "+s.name, only) {
				continue
			}
			some, err := both(ctx, tools, results, runs(side, s), explanations)
			if err != nil {
				return nil, err
			}
			rows = append(rows, some...)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no run has %q in its name", only)
	}
	return rows, nil
}

// both does the runs of one side and suite; the first is the direct one.
func both(ctx context.Context, tools tools, results string, runs []run, explanations []*explanation) (rows []row, err error) {
	var direct outcomes
	for i, r := range runs {
		fmt.Fprintln(os.Stderr, r)
		wanted := direct.without(func(scenario string) bool { return leftOut(explanations, r, scenario) })
		var scenarios []string
		if r.side == "client" && i > 0 {
			scenarios = wanted.scenarios()
		}
		said, err := execute(ctx, tools, results, r, scenarios)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r, err)
		}
		if i == 0 {
			direct, wanted = said, said
		}
		now := row{run: r}
		now.passed, now.ran = said.tally()
		now.explained, now.unexplained = explain(explanations, r, compare(wanted, said))
		rows = append(rows, now)
	}
	return rows, nil
}
