// Command subjects builds the subjects over a checkout of go-arapuca, when that
// fits the arapuca that is installed.
//
//	subjects -binding DIR -out DIR [-prefix DIR] [-history DIR]
//
// The folder gets link.yaml, the subjects, and the program arapuca beside them. It
// exits with 0 when the parts fit, 1 when they do not and nothing was built, 3 when
// a tool is missing, 4 when it failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"bridgecheck/ci/link"
	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "subjects:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, told io.Writer) (int, error) {
	b := upstream.Build{Repository: ".", Names: upstream.Subjects, Log: os.Stderr}
	flags := flag.NewFlagSet("subjects", flag.ContinueOnError)
	flags.StringVar(&b.Binding, "binding", "", "folder of go-arapuca's package")
	flags.StringVar(&b.BindingVersion, "binding-version", "", "its version (default: what git calls it)")
	flags.StringVar(&b.Prefix, "prefix", "", "where arapuca was installed (default: what pkg-config finds)")
	flags.StringVar(&b.History, "history", "", "git checkout of arapuca with tags, to name the version that is needed")
	out := flags.String("out", "", "folder for the subjects")
	if err := flags.Parse(args); err != nil {
		return report.ExitUsage, err
	}
	if b.Binding == "" || *out == "" {
		return report.ExitUsage, errors.New("name -binding and -out")
	}
	if b.BindingVersion == "" {
		b.BindingVersion = link.Describe(ctx, b.Binding)
	}
	l, err := b.Subjects(ctx, *out)
	switch {
	case errors.Is(err, upstream.ErrToolchain):
		return report.ExitHost, err
	case err != nil:
		return report.ExitHarness, err
	case l == nil:
		fmt.Fprintln(told, "a double stands in for go-arapuca: there is no library to fit")
		return report.ExitConformant, nil
	}
	fmt.Fprintln(told, l.Text())
	if !l.OK() {
		return report.ExitNot, nil
	}
	return report.ExitConformant, nil
}
