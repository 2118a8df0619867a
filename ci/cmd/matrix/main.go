// Command matrix lists the rows of ci/matrix.yaml, or runs one.
//
//	matrix                              the rows, as a person reads them
//	matrix -json [-without selinux]     as a job matrix: {"include": [...]}
//	matrix -status DIR                  what became of each, as JSON; red is null without results
//	matrix -row N|NAME -results DIR     build, judge, leave one folder of results
//
// A run exits with 0 when the row is as expected or only informs, 1 when it is
// not, 2 for wrong usage, 3 when this host is not what the row is for, 4 when it
// came to no verdict.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"bridgecheck/ci"
	"bridgecheck/ci/matrix"
	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("matrix", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print the rows as a job matrix")
	without := flags.String("without", "", "with -json: leave out the rows that need this of a host")
	status := flags.String("status", "", "tell what became of each row, by the results below this folder")
	row := flags.String("row", "", "run the row with this number, from 0, or name")
	results := flags.String("results", "results/matrix", "folder for the folders of results")
	engine := flags.String("engine", "", "docker or podman (default: the one in PATH)")
	var buildArgs []string
	flags.Func("build-arg", "another base for the image, as RUST=my-rust; any number of times", func(s string) error {
		if !strings.Contains(s, "=") {
			return errors.New("write NAME=VALUE")
		}
		buildArgs = append(buildArgs, s)
		return nil
	})
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return report.ExitUsage, err
	}
	rows, err := matrix.Parse(ci.Matrix)
	if err != nil {
		return report.ExitHarness, err
	}
	switch {
	case *row != "":
		return runRow(ctx, rows, *row, *engine, matrix.Runner{Repository: ".", Results: *results, Log: os.Stdout, BuildArgs: buildArgs})
	case *asJSON:
		return 0, json.NewEncoder(os.Stdout).Encode(jobs(rows, *without))
	case *status != "":
		states, err := matrix.Status(rows, *status)
		if err != nil {
			return report.ExitHarness, err
		}
		return 0, json.NewEncoder(os.Stdout).Encode(states)
	}
	return 0, list(rows)
}

// jobs is the form that a workflow expands into one job for each row. The index is
// that of the whole matrix, whatever is left out.
func jobs(rows []matrix.Row, without string) map[string]any {
	type job struct {
		Index int `json:"index"`
		matrix.Row
		// SELinux and Restricted are what a workflow chooses a machine by.
		SELinux    bool `json:"selinux"`
		Restricted bool `json:"restricted"`
	}
	include := []job{}
	for i, r := range rows {
		if !slices.Contains(r.Host, without) {
			include = append(include, job{i, r, slices.Contains(r.Host, matrix.SELinux), slices.Contains(r.Host, matrix.UsernsRestricted)})
		}
	}
	return map[string]any{"include": include}
}

func list(rows []matrix.Row) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "row\tname\tarapuca\tgo-arapuca\timage\tarch\texpect")
	for i, r := range rows {
		expect := r.Expect
		if r.Informational {
			expect += " (informational)"
		}
		fmt.Fprintf(w, "%d\t%s\t%.12s\t%.12s\t%s\t%s\t%s\n", i, r.Name, r.Arapuca, r.GoArapuca, r.Image, r.Arch, expect)
	}
	return w.Flush()
}

func runRow(ctx context.Context, rows []matrix.Row, which, engine string, runner matrix.Runner) (int, error) {
	i := slices.IndexFunc(rows, func(r matrix.Row) bool { return r.Name == which })
	if n, err := strconv.Atoi(which); err == nil {
		i = n
	}
	if i < 0 || i >= len(rows) {
		return report.ExitUsage, fmt.Errorf("there is no row %s; rows are 0 to %d, or their names", which, len(rows)-1)
	}
	var err error
	if runner.Engine, err = findEngine(engine); err != nil {
		return report.ExitHost, err
	}
	if runner.Cache, err = upstream.UserCache(); err != nil {
		return report.ExitHarness, err
	}
	result, err := runner.Run(ctx, rows[i])
	switch {
	case errors.Is(err, matrix.ErrHost):
		return report.ExitHost, err
	case err != nil:
		return report.ExitHarness, err
	}
	fmt.Printf("row %d %s: %s", i, result.Name, result.Got)
	if result.Because != "" {
		fmt.Printf(": %s", result.Because)
	}
	fmt.Println()
	if result.Red {
		return report.ExitNot, nil
	}
	return report.ExitConformant, nil
}

func findEngine(name string) (string, error) {
	names := []string{"docker", "podman"}
	if name != "" {
		names = []string{name}
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is missing: install Docker or podman (ci/engine.sh start does, as root on Debian)", strings.Join(names, " or "))
}
