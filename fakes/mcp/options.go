// Package mcp is a fake MCP server with good and bad manners by flag, written
// with mcp-go. What that library cannot be made to do wrong is done to its
// stdio streams on the way.
package mcp

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"bridgecheck/fakes/process"
)

// Options are how the server behaves. The zero value of each is good manners.
type Options struct {
	// Name and Nonce are told by the tool whoami.
	Name, Nonce string
	// StartDelay passes before anything is read.
	StartDelay time.Duration
	// DieAtStart is the exit code of a server that says so on stderr and ends
	// before it reads anything; negative: it lives.
	DieAtStart int
	// Mute reads all and answers nothing.
	Mute bool
	// HangAfter is how many requests are answered before silence; negative: all.
	HangAfter int
	// Code and Signal are what the tool die ends the process with.
	Code   int
	Signal syscall.Signal
	// IgnoreTERM ignores SIGTERM, IgnoreEOF stays when the input ends.
	IgnoreTERM, IgnoreEOF bool
	// Forks are kinds of processes started first, which sleep for ever with
	// Mark in their arguments.
	Forks []string
	Mark  string
	// StderrBytes are written to stderr before serving.
	StderrBytes int64
	// Garbage is how many lines that are no JSON come first on stdout;
	// GarbageForever adds one every millisecond.
	Garbage        int
	GarbageForever bool
	// Era is legacy (up to 2025-11-25), modern (2026-07-28) or both.
	Era string
	// Discover is what server/discover meets: answer, ignore, die, or flood
	// (1 MiB on stderr and no answer).
	Discover string
	// Chunk is how many bytes of stdout are written at once; 0 is all. CRLF ends
	// lines with a carriage return too.
	Chunk int
	CRLF  bool
	// HTTP serves streamable HTTP (path /mcp) and legacy SSE (path /sse) instead
	// of stdio, on host:port or on unix:PATH.
	HTTP string
	// AnyHost takes requests for any Host on a loopback address; without it the
	// library refuses them as DNS rebinding.
	AnyHost bool
	// Announce is a file to which lines are appended: "started PID NAME",
	// "listening ADDRESS", "request METHOD", "notification METHOD", "stopped PID
	// HOW"; over HTTP "request METHOD PATH HOST" and "header NAME: VALUE".
	Announce string
	// AnnounceEnv is a variable of the environment to announce at the start, as
	// "environment VALUE".
	AnnounceEnv string
}

// The eras and the ways to meet server/discover.
const (
	EraLegacy = "legacy"
	EraModern = "modern"
	EraBoth   = "both"

	DiscoverAnswer = "answer"
	DiscoverIgnore = "ignore"
	DiscoverDie    = "die"
	DiscoverFlood  = "flood"
)

// Parse reads the flags, args without the program's name. Errors and the usage
// go to output.
func Parse(args []string, output io.Writer) (Options, error) {
	var o Options
	flags := flag.NewFlagSet("fakemcp", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&o.Name, "name", "fake", "server `name`")
	flags.StringVar(&o.Nonce, "nonce", "", "told by whoami")
	flags.DurationVar(&o.StartDelay, "start-delay", 0, "wait before reading")
	flags.IntVar(&o.DieAtStart, "die-at-start", -1, "exit with `code` at once")
	flags.BoolVar(&o.Mute, "mute", false, "never answer")
	flags.IntVar(&o.HangAfter, "hang-after", -1, "answer `n` requests, then none")
	flags.IntVar(&o.Code, "code", 1, "exit `code` of the tool die")
	flags.Func("signal", "`signal` that the tool die ends by", func(text string) (err error) {
		o.Signal, err = process.Signal(text)
		return err
	})
	flags.BoolVar(&o.IgnoreTERM, "ignore-term", false, "ignore SIGTERM")
	flags.BoolVar(&o.IgnoreEOF, "ignore-eof", false, "stay when the input ends")
	flags.Func("fork", "start a sleeper: child, double, setsid or hold-pipe; repeatable", func(kind string) error {
		if kind == "double" {
			kind = process.DoubleFork
		}
		if !slices.Contains(process.Kinds, kind) {
			return fmt.Errorf("one of child, double, setsid, hold-pipe, not %q", kind)
		}
		o.Forks = append(o.Forks, kind)
		return nil
	})
	flags.StringVar(&o.Mark, "mark", "", "`text` in the arguments of the sleepers")
	flags.Int64Var(&o.StderrBytes, "stderr-bytes", 0, "`n` bytes to stderr first")
	flags.IntVar(&o.Garbage, "garbage", 0, "`n` lines that are no JSON first")
	flags.BoolVar(&o.GarbageForever, "garbage-forever", false, "lines that are no JSON, without end")
	flags.StringVar(&o.Era, "era", EraBoth, "legacy, modern or both")
	flags.StringVar(&o.Discover, "discover", DiscoverAnswer, "answer, ignore, die or flood")
	flags.IntVar(&o.Chunk, "chunk", 0, "write stdout in chunks of `n` bytes")
	flags.BoolVar(&o.CRLF, "crlf", false, "end lines with CR and LF")
	flags.StringVar(&o.HTTP, "http", "", "serve HTTP on `address` (host:port or unix:PATH) instead of stdio")
	flags.BoolVar(&o.AnyHost, "any-host", false, "with http: do not check Host")
	flags.StringVar(&o.Announce, "announce", "", "append what happens to `file`")
	flags.StringVar(&o.AnnounceEnv, "announce-env", "", "announce the `variable` of the environment too")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, o.check()
}

// check refuses values and combinations that mean nothing.
func (o Options) check() error {
	if !slices.Contains([]string{EraLegacy, EraModern, EraBoth}, o.Era) {
		return fmt.Errorf("era %q: use legacy, modern or both", o.Era)
	}
	if !slices.Contains([]string{DiscoverAnswer, DiscoverIgnore, DiscoverDie, DiscoverFlood}, o.Discover) {
		return fmt.Errorf("discover %q: use answer, ignore, die or flood", o.Discover)
	}
	if strings.ContainsAny(o.Name, " \n") {
		return errors.New("the name is one word")
	}
	stdioOnly := o.HangAfter >= 0 || o.IgnoreEOF || o.Garbage > 0 || o.GarbageForever ||
		o.Chunk > 0 || o.CRLF || o.Discover != DiscoverAnswer
	if o.HTTP != "" && stdioOnly {
		return errors.New("hang-after, ignore-eof, garbage, chunk, crlf and discover are for stdio: leave out http")
	}
	return nil
}
