// Command linkcheck says whether go-arapuca can be linked with the libarapuca that
// is installed, and whether the arapuca program in PATH is of its version.
//
//	linkcheck -binding DIR [-history DIR] [-out DIR]
//
// It exits with 0 when they fit, 1 when they do not, 4 when that cannot be said.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"bridgecheck/ci/link"
	"bridgecheck/suites/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	var q link.Request
	flag.StringVar(&q.Binding, "binding", ".", "folder of go-arapuca's package")
	flag.StringVar(&q.BindingVersion, "binding-version", "", "its version (default: what git calls it)")
	flag.StringVar(&q.Library, "library", "", "libarapuca.a or .so (default: what pkg-config names)")
	flag.StringVar(&q.LibraryVersion, "library-version", "", "its version, with -library")
	flag.StringVar(&q.Wrapper, "wrapper", "", "the arapuca program (default: the one in PATH)")
	flag.StringVar(&q.History, "history", "", "git checkout of arapuca with tags, to name the version that is needed")
	tags := flag.String("tags", "", "build tags of the binding, with commas")
	out := flag.String("out", "", "folder for "+report.LinkFile)
	flag.Parse()
	if *tags != "" {
		q.Tags = strings.Split(*tags, ",")
	}
	l, err := link.Check(ctx, q)
	if err == nil && *out != "" {
		err = report.WriteLink(*out, l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "linkcheck:", err)
		return report.ExitHarness
	}
	fmt.Println(l.Text())
	if !l.OK() {
		return report.ExitNot
	}
	return report.ExitConformant
}
