package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridgecheck/suites/report"
)

type gateFlags struct {
	verifyFlags
	base, head string
	repeat     int
}

func gateCommand() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate --base A --head B",
		Short: "Say what the head of a change broke, mended and newly claims",
		Long: `gate compares two subjects on this host, or two folders with the verdict.yaml of
earlier runs. It prints one page of Markdown and exits with 0 when the head broke
nothing, 1 when it did, 4 when that cannot be said.`,
		Example: `  bridgecheck gate --base ./sandbox-main --head ./sandbox-pr --repeat 2
  bridgecheck gate --base results/before --head results/after`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.usage(cmd.Flags()); err != nil {
				return err
			}
			return f.run(cmd.Context())
		},
	}
	f.register(cmd.Flags())
	_ = cmd.Flags().MarkHidden("strict") // it is registered one line up, and refused
	cmd.Flags().StringVar(&f.base, "base", "", "subject or results folder before the change")
	cmd.Flags().StringVar(&f.head, "head", "", "subject or results folder after it")
	cmd.Flags().IntVar(&f.repeat, "repeat", 1, "runs of each subject; an outcome that differs between them is a flip")
	for _, name := range []string{"base", "head"} {
		_ = cmd.MarkFlagRequired(name) // it is registered two lines up
	}
	return cmd
}

// usage refuses what would be passed over in silence.
func (f *gateFlags) usage(flags *pflag.FlagSet) error {
	if f.repeat < 1 {
		return errors.New("--repeat is at least 1")
	}
	if err := f.verifyFlags.usage(); err != nil {
		return err
	}
	var idle error
	if flags.Changed("strict") {
		return errors.New("--strict is for verify: what this host cannot give is told by gate as what cannot be judged")
	}
	flags.Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"base", "head", "results"}, flag.Name) && hasVerdict(f.base) && hasVerdict(f.head) {
			idle = fmt.Errorf("--%s is about runs, and both sides are results of earlier ones", flag.Name)
		}
	})
	return idle
}

// hasVerdict tells a results folder from a subject.
func hasVerdict(arg string) bool {
	_, err := os.Stat(filepath.Join(arg, "verdict.yaml"))
	return err == nil
}

func (f *gateFlags) run(ctx context.Context) error {
	f.gate = true
	dir := filepath.Join(f.results, "gate")
	base, err := f.read(f.base)
	if err != nil {
		return err
	}
	head, err := f.read(f.head)
	if err != nil {
		return err
	}
	if err := f.runs(ctx, &base, filepath.Join(dir, "base")); err != nil {
		return err
	}
	if err := f.runs(ctx, &head, filepath.Join(dir, "head")); err != nil {
		return err
	}
	g := report.CompareLinked(base.link, head.link, base.runs, head.runs)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return harness(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gate.md"), []byte(g.Page()), 0o644); err != nil {
		return harness(err)
	}
	fmt.Print(g.Page())
	if base.target != nil || head.target != nil {
		fmt.Fprintf(os.Stderr, "evidence is in %[1]s/{base,head}; build/bridgecheck report %[1]s/head/1 writes the pages of a side\n", dir)
	}
	if code := g.Exit(); code != 0 {
		return exitError{code: code}
	}
	return nil
}

// gateSide is what is known of one side; one that has a target is still to be run.
type gateSide struct {
	runs   []report.Verdict
	link   *report.Link
	target *target
}

// read reads a results folder, or finds the subject. A folder with nothing but a
// link.yaml is a subject that could not be built.
func (f *gateFlags) read(arg string) (gateSide, error) {
	link, err := report.ReadLink(arg)
	if err != nil {
		return gateSide{}, harness(err)
	}
	if hasVerdict(arg) {
		v, err := report.ReadYAML(filepath.Join(arg, "verdict.yaml"))
		if err != nil {
			return gateSide{}, harness(err)
		}
		return gateSide{runs: []report.Verdict{v}, link: link}, nil
	}
	if link != nil {
		return gateSide{link: link}, nil
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return gateSide{}, harness(fmt.Errorf("%s holds no verdict.yaml; give the folder that verify wrote, as results/ref-native", arg))
	}
	bin, err := binDir()
	if err != nil {
		return gateSide{}, harness(err)
	}
	sub, err := findSubject(arg, bin)
	return gateSide{target: &sub}, err
}

// runs runs the subject of a side as often as asked for.
func (f *gateFlags) runs(ctx context.Context, side *gateSide, dir string) error {
	if side.target == nil {
		return nil
	}
	bin, err := binDir()
	if err != nil {
		return harness(err)
	}
	for i := range f.repeat {
		v, err := f.verdict(ctx, bin, *side.target, filepath.Join(dir, fmt.Sprint(i+1)))
		if err != nil {
			return err
		}
		side.runs = append(side.runs, v)
	}
	return nil
}
