package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

// The verbs of the measuring client, which this program is itself: beside a
// gateway, or as the agent in the sandbox. What they find goes to stdout.
const (
	callsVerb    = "calls"    // URL N: p50 and p99 of N calls, in microseconds
	sessionsVerb = "sessions" // URL N: opens N sessions, says so, waits for a line
	badVerb      = "bad"      // URL TOOL: how a call ends
)

// patience is how long a client waits for a bad server.
const patience = 10 * time.Second

func measure(ctx context.Context, verb, url, last string) error {
	n, _ := strconv.Atoi(last)
	switch verb {
	case callsVerb:
		return calls(ctx, url, n)
	case sessionsVerb:
		return sessions(ctx, url, n)
	case tryVerb:
		return try(ctx, url, last)
	default:
		fmt.Println(bad(ctx, url, last))
		return nil
	}
}

func calls(ctx context.Context, url string, n int) error {
	c := &client{url: url}
	if err := c.initialize(ctx); err != nil {
		return err
	}
	took := make([]time.Duration, n)
	for i := range took {
		begin := time.Now()
		if _, err := c.tool(ctx, "echo", map[string]any{"text": "x"}); err != nil {
			return err
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	fmt.Println(took[n/2].Microseconds(), took[n*99/100].Microseconds())
	return nil
}

func sessions(ctx context.Context, url string, n int) error {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("none")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	open := make([]client, n)
	for i := range open {
		open[i].url = url
		if err := open[i].initialize(ctx); err != nil {
			return err
		}
		if _, err := open[i].tool(ctx, "echo", map[string]any{"text": "x"}); err != nil {
			return err
		}
	}
	fmt.Println("open")
	_, err := in.ReadString('\n')
	return err
}

// bad calls a tool once and says how that ended.
func bad(ctx context.Context, url, tool string) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	c := &client{url: url}
	stage := "initialize"
	err := c.initialize(ctx)
	if err == nil {
		stage = "call"
		_, err = c.tool(ctx, tool, map[string]any{"text": "x"})
	}
	took := time.Since(begin).Round(10 * time.Millisecond)
	var refused *rpcError
	switch {
	case err == nil:
		return "works"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%s: no answer within %v", stage, patience)
	case errors.As(err, &refused):
		return fmt.Sprintf("%s: %v, after %v", stage, refused, took)
	default:
		return fmt.Sprintf("%s: %v, after %v", stage, err, took)
	}
}
