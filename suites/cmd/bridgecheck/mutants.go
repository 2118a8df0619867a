package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/mutants"
	"bridgecheck/suites/report"
)

// sentinels run with every fault, so that one that breaks everything is seen to:
// what is declared is reached, and what is not is refused.
var sentinels = []string{"ALW-001", "ALW-002"}

type mutantsFlags struct {
	names    []string
	results  string
	full     bool
	parallel int
}

func mutantsCommand() *cobra.Command {
	var f mutantsFlags
	cmd := &cobra.Command{
		Use:   "mutants",
		Short: "Plant each fault in the reference bridge and demand that its checks turn red",
		Long: `mutants builds the reference bridge once for each file in suites/mutants/faults, with
the fault in an overlay, and runs the checks that name it. It needs the Go
toolchain and the root of the repository as the working directory.`,
		Example: "  bridgecheck mutants\n  bridgecheck mutants --id open-proxy",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringSliceVar(&f.names, "id", nil, "only these faults, or the faults of these checks")
	cmd.Flags().BoolVar(&f.full, "full", false, "every fault against every check: the kill matrix")
	cmd.Flags().StringVar(&f.results, "results", "results", "folder for the reports")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "faults tried at the same time; 0 is three for each processor")
	return cmd
}

func (f *mutantsFlags) run(ctx context.Context) error {
	faults, err := mutants.Load()
	if err != nil {
		return harness(err)
	}
	if err := mutants.Check(faults, catalog.All()); err != nil && len(f.names) == 0 {
		return harness(err)
	}
	if f.parallel < 0 {
		return errors.New("--parallel is at least 1, or 0")
	}
	for _, name := range f.names {
		if !slices.ContainsFunc(faults, func(m mutants.Fault) bool { return means(m, name) }) && !isWrong(name) {
			return fmt.Errorf("no fault is called %q and no fault is of such a check; suites/mutants/faults has them", name)
		}
	}
	wrongs := f.chooseWrongs()
	faults = f.choose(faults)
	root, err := os.Getwd()
	if err != nil {
		return harness(err)
	}
	bin, err := binDir()
	if err != nil {
		return harness(err)
	}
	dir := filepath.Join(f.results, "mutants")
	// The underscore keeps the patched files out of `./...`.
	builder := mutants.Builder{Root: root, Package: "./ref/cmd/refbridge", Out: filepath.Join(bin, "_mutants")}
	batches, dirs := []mutants.Batch{}, []string{}
	add := func(b mutants.Batch, dir string) {
		if len(b.Faults)+len(b.Wrongs) > 0 {
			b.Verify = verifier(bin, dir)
			batches, dirs = append(batches, b), append(dirs, dir)
		}
	}
	add(mutants.Batch{Builder: builder, Faults: faultsOn(faults, ""), Wrongs: wrongs}, dir)
	for _, double := range []string{mutants.DoubleSubject, "ref-arapuca-hosts-double"} {
		builder.Dir, builder.Package, builder.Companion = "ref/arapuca", "./cmd/"+double, "./cmd/ara-double"
		builder.Out = filepath.Join(bin, "_mutants", double)
		add(mutants.Batch{Builder: builder, Faults: faultsOn(faults, double)}, filepath.Join(dir, double))
	}
	results := mutants.Run(ctx, batches, mutants.Options{
		All: ids(selection{}.offered(catalog.All())), Full: f.full, Parallel: f.parallel,
		Sentinels: sentinels,
		Done:      func(k mutants.Kill) { fmt.Printf("%-8s %s\n", caught(k), k.Name) },
	})
	for i, r := range results {
		err = errors.Join(err, f.report(dirs[i], r))
	}
	return err
}

// faultsOn are those of one subject, the reference bridge where it is empty.
func faultsOn(faults []mutants.Fault, double string) []mutants.Fault {
	return slices.DeleteFunc(slices.Clone(faults), func(m mutants.Fault) bool { return m.On() != double })
}

func caught(k mutants.Kill) string {
	if k.Caught() {
		return "caught"
	}
	return "MISSED"
}

func (f *mutantsFlags) choose(faults []mutants.Fault) []mutants.Fault {
	if len(f.names) == 0 {
		return faults
	}
	return slices.DeleteFunc(faults, func(m mutants.Fault) bool {
		return !slices.ContainsFunc(f.names, func(name string) bool { return means(m, name) })
	})
}

// means tells whether the name is the fault's own, or that of a check or row
// that must catch it; a check means all its rows.
func means(m mutants.Fault, name string) bool {
	return name == m.Name || slices.ContainsFunc(m.Cases, func(id string) bool {
		return id == name || strings.HasPrefix(id, name+".")
	})
}

func isWrong(name string) bool {
	kind, wrong := strings.CutPrefix(name, "wrong-")
	return wrong && slices.Contains(mutants.Wrongs, kind)
}

// chooseWrongs are the subjects that are wrong as a whole: all of them, or those
// that are named.
func (f *mutantsFlags) chooseWrongs() []string {
	return slices.DeleteFunc(slices.Clone(mutants.Wrongs), func(kind string) bool {
		return len(f.names) > 0 && !slices.Contains(f.names, "wrong-"+kind)
	})
}

func (f *mutantsFlags) report(dir string, r mutants.Result) error {
	matrix, err := mutants.MatrixYAML(r)
	if err != nil {
		return harness(err)
	}
	err = errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "matrix.yaml"), matrix, 0o644),
		os.WriteFile(filepath.Join(dir, "matrix.md"), []byte(mutants.MatrixMarkdown(r)), 0o644),
		mutants.WriteTable(os.Stdout, r),
	)
	if err != nil {
		return harness(err)
	}
	if !r.OK() {
		return exitError{code: report.ExitNot}
	}
	return nil
}
