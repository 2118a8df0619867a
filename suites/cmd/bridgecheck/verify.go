package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridgecheck/ci"
	"bridgecheck/containers"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/report"
	"bridgecheck/suites/runner"
	"bridgecheck/suites/subject"
)

type verifyFlags struct {
	selection
	subject, results, engine string
	cells                    []string
	strict                   bool
	// gate says that two subjects are compared: what is in the baseline and passes
	// is mended then, and not stale.
	gate bool
	seed int64
	// patience is how long a stream is watched that must not be ended.
	patience time.Duration
	// claims are held until the process ends: the reports are still to be written.
	claims []*os.File
}

func verifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Run the checks against a subject and judge it",
		Example: `  bridgecheck verify
  bridgecheck verify --subject ./my-sandbox --profile bridge
  bridgecheck verify --id ALW-002 --cell user --engine none`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.subject, "subject", "ref-native", "subject by name or by path of an executable")
	f.register(cmd.Flags())
	return cmd
}

// register adds the flags that every verb has which runs checks.
func (f *verifyFlags) register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.ids, "id", nil, "only the checks, or rows of them, with these ids")
	flags.StringSliceVar(&f.areas, "area", nil, "only the checks of these areas, such as ALW")
	flags.StringSliceVar(&f.labels, "label", nil, "only the checks with these labels, such as level:S or needs:connect")
	flags.StringVar(&f.profile, "profile", "", "only the checks that a profile requires")
	flags.StringVar(&f.tools, "tools", "", "folder that make conformance and make agents fill: run the checks that need it too; implies --engine none")
	flags.StringVar(&f.results, "results", "results", "folder for the reports")
	flags.StringSliceVar(&f.cells, "cell", []string{runner.UserCell, runner.RootCell}, "cells to run: user, root")
	flags.StringVar(&f.engine, "engine", "auto", "container engine: auto (use one that answers) or none")
	flags.BoolVar(&f.strict, "strict", os.Getenv("CI") == "true", "what this host cannot give is red (the default where CI=true)")
	flags.DurationVar(&f.patience, "patience", 0, "watch a stream for so long that must not be ended, such as 310s for a limit of 300 s; by itself a check waits for 3s")
	flags.Int64Var(&f.seed, "seed", 1, "order of the checks")
}

// usage refuses what cannot be run, before anything is looked for.
func (f *verifyFlags) usage() error {
	for i, cell := range f.cells {
		if cell != runner.UserCell && cell != runner.RootCell || slices.Contains(f.cells[:i], cell) {
			return fmt.Errorf("--cell is user, root, or both; not %q", strings.Join(f.cells, ","))
		}
	}
	if f.patience < 0 || f.patience > time.Hour {
		return fmt.Errorf("--patience is from 0 to 1h, not %s", f.patience)
	}
	if f.engine != "none" && f.engine != "auto" {
		return fmt.Errorf("--engine is auto or none, not %q", f.engine)
	}
	_, _, err := f.choice()
	return err
}

// choice is what the flags choose, and the profiles that can be judged by it.
func (f *verifyFlags) choice() ([]string, []report.Profile, error) {
	profiles, err := report.ParseProfiles(ci.Profiles)
	if err != nil {
		return nil, nil, harness(err)
	}
	return f.resolve(profiles)
}

func (f *verifyFlags) run(ctx context.Context) error {
	if err := f.usage(); err != nil {
		return err
	}
	bin, err := binDir()
	if err != nil {
		return harness(err)
	}
	sub, err := findSubject(f.subject, bin)
	if err != nil {
		return err
	}
	dir := filepath.Join(f.results, sub.name)
	v, err := f.verdict(ctx, bin, sub, dir)
	if err != nil {
		return err
	}
	return show(dir, v)
}

// verdict runs the chosen checks on a subject and leaves facts, evidence and
// verdict.yaml in dir.
func (f *verifyFlags) verdict(ctx context.Context, bin string, sub target, dir string) (report.Verdict, error) {
	if err := f.findTools(); err != nil {
		return report.Verdict{}, err
	}
	chosen, judged, err := f.choice()
	if err != nil {
		return report.Verdict{}, err
	}
	claim, err := claimResults(dir)
	if err != nil {
		return report.Verdict{}, harness(err)
	}
	f.claims = append(f.claims, claim)
	if _, err := subject.Describe(ctx, sub.path); err != nil {
		return report.Verdict{}, harness(err)
	}
	q := runner.Request{
		Bin: bin, Subject: sub.path, Tools: f.tools, Select: chosen, Cells: f.cells,
		// Much of a check is waiting: twice as many labs as cores keep these busy.
		Results: dir, Shards: 2 * runtime.NumCPU(), Seed: f.seed, Patience: f.patience,
	}
	opts := report.Options{
		Profiles: judged, Strict: f.strict, Gate: f.gate, Selection: chosen, Registered: catalog.All(),
		SubjectIsOurs: sub.ours, SubjectArg: sub.arg, Cells: f.cells, Commit: version(), Moot: mootDoors,
	}
	if opts.Baseline, err = ci.Baseline(sub.name); err != nil {
		return report.Verdict{}, harness(err)
	}
	if err := f.chooseEngine(ctx, sub, &q, &opts); err != nil {
		return report.Verdict{}, err
	}
	out, end := progress(os.Stdout)
	v := judgeRun(ctx, q, opts, out, os.Stderr)
	end()
	if err := report.WriteYAML(filepath.Join(dir, "verdict.yaml"), v); err != nil {
		return report.Verdict{}, harness(err)
	}
	return v, nil
}

// findTools makes the folder's path absolute.
func (f *verifyFlags) findTools() (err error) {
	if f.tools == "" {
		return nil
	}
	if f.tools, err = filepath.Abs(f.tools); err != nil {
		return fmt.Errorf("--tools: %w", err)
	}
	if _, err := os.Stat(f.tools); err != nil {
		return fmt.Errorf("--tools: %w; make agents fills build", err)
	}
	return nil
}

// chooseEngine takes the engine that answers; that there is none is said, and
// red in a strict run unless it was asked for. A subject that needs programs or
// libraries of this machine finds them in no image: its cells are labs of the
// machine itself.
func (f *verifyFlags) chooseEngine(ctx context.Context, sub target, q *runner.Request, opts *report.Options) error {
	switch {
	case f.tools != "":
		fmt.Println("cells   labs of this machine, which has the tools")
		return nil
	case f.engine == "none":
		fmt.Println("cells   labs of this machine, as asked for")
		return nil
	case !standsAlone(sub.path):
		fmt.Printf("cells   labs of this machine: %s is no static program, and needs what is on it\n", sub.name)
		return nil
	}
	engine, err := containers.Find(ctx)
	switch {
	case err == nil:
		q.Engine = &engine
		fmt.Printf("cells   containers on %s\n", engine)
	case errors.Is(err, containers.ErrNoEngine):
		opts.HostLacks = append(opts.HostLacks, "a container engine: "+err.Error())
		fmt.Println("cells   labs of this machine: no container engine answers")
	default:
		return harness(err)
	}
	return nil
}

// judgeRun runs the cells and judges the facts they brought.
func judgeRun(ctx context.Context, q runner.Request, opts report.Options, stdout, stderr io.Writer) report.Verdict {
	facts, err := runner.Run(ctx, q, stdout, stderr)
	if err != nil {
		opts.Problems = append(opts.Problems, err.Error())
	}
	return report.Judge(facts, opts)
}

// mootDoors are the rows whose door some kernels lack altogether, in any cell:
// the control outside says so, and then the row says nothing about a subject.
var mootDoors = map[string][]string{runner.UserCell: rareDoors, runner.RootCell: rareDoors}

var rareDoors = []string{
	// An image without users.
	"ESC-015.shadow",
	// A kind of interface that is a module.
	"LPB-007.add-veth",
	// Families that are modules: an image or a small kernel has none of them.
	"ESC-005.alg", "ESC-005.bluetooth", "ESC-005.rds", "ESC-005.tipc", "ESC-005.vsock", "ESC-005.xdp",
	// A kernel without CONFIG_KEYS.
	"ESC-007.keyctl", "ESC-007.add-key",
	// kernel.io_uring_disabled, or no CONFIG_IO_URING.
	"ESC-006.io-uring",
	// CONFIG_IA32_EMULATION and CONFIG_X86_X32_ABI; the tests call VSOCK there.
	"ESC-006.socket-int80", "ESC-006.unshare-int80", "ESC-006.socket-x32", "ESC-006.unshare-x32",
	// CONFIG_MAGIC_SYSRQ, a container's /dev, and a host without control groups.
	"ESC-016.sysrq-trigger", "ESC-016.kmsg", "ESC-016.cgroup",
}
