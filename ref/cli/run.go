package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

type runFlags struct {
	config, spec, events string
	control              int
	dryRun               bool
}

func runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run (-c soda.yaml -- COMMAND… | --spec FILE)",
		Short: "Run one phase: servers, bridge, agent",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if (f.config == "") == (f.spec == "") {
				return errors.New("run: give either -c FILE and a command, or --spec FILE")
			}
			if f.spec != "" && len(args) > 0 {
				return errors.New("run: with --spec the agent stands in the file; remove the command")
			}
			if f.config != "" && len(args) == 0 && !f.dryRun {
				return errors.New("run: no command is given; add -- and the agent's command line")
			}
			return f.run(args)
		},
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "soda.yaml to read")
	c.Flags().StringVar(&f.spec, "spec", "", "specification of the contract, JSON")
	c.Flags().StringVar(&f.events, "events", "", "append events to this file, as JSON lines")
	c.Flags().IntVar(&f.control, "control", -1, "descriptor of the control stream")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "decide and tell the mode, start nothing")
	return c
}

func (f *runFlags) run(args []string) error {
	log := &personLog{out: errOut}
	opt := ref.Options{
		Log:   slog.New(slog.NewTextHandler(log, nil)),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, DryRun: f.dryRun, Launcher: launcher,
	}
	control, err := openControl(f.control)
	if err != nil {
		return err
	}
	var sinks []io.Writer
	if control != nil {
		defer control.Close()
		opt.Control = control
		sinks = append(sinks, control)
	}
	if f.events != "" {
		file, err := os.OpenFile(f.events, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("events: %w", err)
		}
		defer file.Close()
		sinks = append(sinks, &sink{file: file})
	}
	if f.config != "" {
		sinks = append(sinks, &progress{log: log})
	}
	if f.dryRun {
		sinks = append(sinks, os.Stdout)
	}
	opt.Events = event.NewRecorder(sinks...)
	spec, err := f.read(args)
	if err == nil {
		err = checkInherited(spec, f.control)
	}
	if err != nil {
		return f.refused(opt, err)
	}
	ctx, stop := untilSignal()
	defer stop()
	log.shared = spec.Agent != nil && spec.Agent.TTY && ref.AtTerminal(os.Stderr)
	exit, err := ref.Run(ctx, spec, opt)
	log.release()
	if err != nil && exit.Reason != ref.ReasonSignal {
		fmt.Fprintln(errOut, "refbridge:", err)
	}
	explain(exit, args)
	return exitCode(exit.Status())
}

// explain says why an agent did not run that a shell would not have found either.
func explain(exit ref.Exit, args []string) {
	const notExecutable, notFound = 126, 127
	if len(args) == 0 || exit.Reason != ref.ReasonAgent || exit.Code != notExecutable && exit.Code != notFound {
		return
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		fmt.Fprintln(errOut, "refbridge:", err)
	}
}

// refused tells of a configuration that cannot be read as any other failure.
func (f *runFlags) refused(opt ref.Options, err error) error {
	ref.Refuse(opt, err)
	s := stderr()
	fmt.Fprintf(s, "refbridge: %s cannot be used; nothing was started\n", s.paint("1", f.file()))
	s.wrong(f.file(), err)
	return exitCode(ref.CodeFailure)
}

func (f *runFlags) file() string {
	if f.spec != "" {
		return f.spec
	}
	return f.config
}

func (f *runFlags) read(args []string) (config.Spec, error) {
	if f.spec != "" {
		data, err := os.ReadFile(f.spec)
		if err != nil {
			return config.Spec{}, err
		}
		return config.ParseSpec(f.spec, data)
	}
	data, err := os.ReadFile(f.config)
	if err != nil {
		return config.Spec{}, fmt.Errorf("%w; name the file with -c", err)
	}
	spec, err := config.ParseSODA(f.config, data, os.LookupEnv)
	if err == nil && len(args) > 0 {
		spec.Agent, spec.Paths, err = person(spec, args)
	}
	return spec, err
}

// untilSignal is a context that SIGTERM, SIGINT or SIGHUP cancels, and knows
// which. One that the caller ignores, as nohup does, stays ignored.
func untilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	// A reader of stdout or stderr that has gone must not end the bridge in the
	// middle of its work; unlike an ignored signal this is not inherited.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		if s, ok := <-signals; ok {
			cancel(&ref.SignalError{Signal: s.(syscall.Signal)})
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel(nil) }
}
