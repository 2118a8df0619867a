// Command gate judges a change of go-arapuca, alone or together with one of
// arapuca:
//
//	gate -go-arapuca PATH|REF|PR [-arapuca PATH|REF|PR] [-base PATH|REF] [-- FLAGS]
//
// It prints one page and exits with 0 when the head broke nothing, 1 when it did, 2
// for wrong usage, 3 when a tool is missing, 4 when it cannot be said. FLAGS go to
// bridgecheck gate. It needs no container engine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"bridgecheck/ci/gate"
	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, log io.Writer) (int, error) {
	q := gate.Request{Repository: ".", Program: filepath.Join("build", "bridgecheck"), Out: out, Log: log}
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	flags.StringVar(&q.GoArapuca, "go-arapuca", "", "the head: a folder as ./go-arapuca, a version, a commit, a branch, or a pull request as pr:12")
	flags.StringVar(&q.Arapuca, "arapuca", "", "arapuca, named the same way (default: what is installed)")
	flags.StringVar(&q.Base, "base", "", "what the change of go-arapuca began from (default: its merge base with the default branch)")
	flags.StringVar(&q.ArapucaBase, "arapuca-base", "", "what the change of arapuca began from (default: the same way)")
	flags.StringVar(&q.Results, "results", filepath.Join("results", "gate"), "folder for gate.md and the evidence")
	subjects := flags.String("subject", strings.Join(upstream.Subjects, ","), "what to judge, with commas")
	if err := flags.Parse(args); err != nil {
		return report.ExitUsage, err
	}
	q.Flags = flags.Args()
	if q.GoArapuca == "" {
		return report.ExitUsage, errors.New("which go-arapuca? make gate GO_ARAPUCA=./go-arapuca, or a version, a commit, a branch, pr:12")
	}
	q.Subjects = strings.Split(*subjects, ",")
	var err error
	if q.Cache, err = upstream.UserCache(); err != nil {
		return report.ExitHarness, err
	}
	code, err := gate.Run(ctx, q)
	switch {
	case errors.Is(err, upstream.ErrToolchain):
		return report.ExitHost, err
	case err != nil:
		return report.ExitHarness, err
	}
	return code, nil
}
