package mcp

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"bridgecheck/fakes/process"
)

// Run is the server's whole life on the process's own stdio; it returns the
// exit code.
func Run(o Options) int {
	announce, done, err := announcer(o.Announce)
	if err != nil {
		fmt.Fprintln(os.Stderr, "open the announce file:", err)
		return 2
	}
	defer done()
	for _, kind := range o.Forks {
		if _, err := process.Sleep(kind, o.Mark); err != nil {
			fmt.Fprintln(os.Stderr, "fork:", err)
			return 2
		}
	}
	if o.IgnoreTERM {
		signal.Ignore(syscall.SIGTERM)
	}
	announce("started %d %s", os.Getpid(), o.Name)
	if o.AnnounceEnv != "" {
		announce("environment %s", os.Getenv(o.AnnounceEnv))
	}
	flood(os.Stderr, o.StderrBytes)
	time.Sleep(o.StartDelay)
	if o.DieAtStart >= 0 {
		fmt.Fprintf(os.Stderr, "%s: cannot start, exiting with %d\n", o.Name, o.DieAtStart)
		announce("stopped %d died", os.Getpid())
		return o.DieAtStart
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
	defer stop()
	if !o.IgnoreTERM {
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
	}
	serve := o.serveStdio
	if o.HTTP != "" {
		serve = o.serveHTTP
	}
	err = serve(ctx, announce)
	how := "eof"
	if ctx.Err() != nil {
		how = "signal"
	}
	announce("stopped %d %s", os.Getpid(), how)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", o.Name, err)
		return 1
	}
	return 0
}

// announcer appends lines to the file, each in one write, so that several
// servers can share it and their order is the order of events.
func announcer(path string) (announce func(string, ...any), done func(), err error) {
	if path == "" {
		return func(string, ...any) {}, func() {}, nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	announce = func(format string, args ...any) { _, _ = fmt.Fprintf(file, format+"\n", args...) }
	return announce, func() { _ = file.Close() }, nil
}

// serveStdio serves until the input ends or ctx does.
func (o Options) serveStdio(ctx context.Context, announce func(string, ...any)) error {
	out := &lines{w: os.Stdout, chunk: o.Chunk, crlf: o.CRLF}
	for i := range o.Garbage {
		_, _ = fmt.Fprintf(out, "garbage line %d, {not json\n", i+1)
	}
	if o.GarbageForever {
		go func() {
			for {
				_, _ = io.WriteString(out, "garbage without end, {not json\n")
				time.Sleep(time.Millisecond)
			}
		}()
	}
	in, feed := io.Pipe()
	f := &filter{options: o, announce: announce, answer: out, scripts: newScripts()}
	go f.copy(os.Stdin, feed)
	stdio := server.NewStdioServer(newServer(o, out.notify))
	stdio.SetErrorLogger(log.New(os.Stderr, o.Name+": ", 0))
	err := stdio.Listen(ctx, in, out)
	if o.IgnoreEOF && ctx.Err() == nil {
		<-ctx.Done()
	}
	return err
}
