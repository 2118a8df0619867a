package ref_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

// held counts what this process holds: descriptors and children.
func held(b testing.TB) (descriptors, children int) {
	b.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		b.Fatal(err)
	}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range tasks {
		text, _ := os.ReadFile(file) // a thread may have ended
		children += len(strings.Fields(string(text)))
	}
	return len(fds), children
}

// clean runs f after a smaller round, which opens what stays open, and demands
// that nothing of it is left.
func clean(b *testing.B, smaller, f func()) {
	b.Helper()
	smaller()
	descriptors, children := held(b)
	for b.Loop() {
		f()
	}
	if d, c := held(b); d > descriptors || c > children {
		b.Errorf("%d descriptors and %d children, before %d and %d", d, c, descriptors, children)
	}
}

// BenchmarkServers is a phase with n servers, from nothing to all healthy and
// back: the time of a server must not grow with their number.
func BenchmarkServers(b *testing.B) {
	c := curve{title: "servers of one phase"}
	for _, n := range []int{1, 10, 25, 50, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			clean(b, func() { manyServers(b, 1) }, func() { manyServers(b, n) })
			c.add(b, n, "server")
		})
	}
	c.plot(b)
}

func manyServers(b *testing.B, n int) {
	b.Helper()
	var servers []config.Server
	for i := range n {
		servers = append(servers, server(b, fmt.Sprintf("s%d", i), "x"))
	}
	ours, theirs := net.Pipe()
	events := newJournal()
	go func() {
		events.await("ready")
		fmt.Fprintln(ours, `{"op":"quit"}`)
		_, _ = io.Copy(io.Discard, ours)
	}()
	r := phase(context.Background(), b, config.Spec{Servers: servers}, func(o *ref.Options) {
		o.Control, o.Events = theirs, event.NewRecorder(events)
	})
	if r.exit != (ref.Exit{Reason: ref.ReasonQuit}) {
		b.Fatal(r.exit, r.err)
	}
	_ = theirs.Close()
	_ = ours.Close()
}

// BenchmarkPhases is n phases at once, each with a server and an agent.
func BenchmarkPhases(b *testing.B) {
	needNamespaces(b)
	c := curve{title: "phases at once"}
	for _, n := range []int{1, 5, 10, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			clean(b, func() { manyPhases(b, 1) }, func() { manyPhases(b, n) })
			c.add(b, n, "phase")
		})
	}
	c.plot(b)
}

func manyPhases(b *testing.B, n int) {
	b.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			r := phase(context.Background(), b, config.Spec{
				Agent: agent(b, "exit", "0"), Servers: []config.Server{server(b, "a", "x")},
			})
			if r.exit != (ref.Exit{Reason: ref.ReasonAgent}) {
				b.Error(r.exit, r.err)
			}
		})
	}
	wg.Wait()
}

// BenchmarkStartStop is n times a server down and up again in one phase, by
// commands.
func BenchmarkStartStop(b *testing.B) {
	ours, theirs := net.Pipe()
	ended := make(chan run, 1)
	go func() {
		ended <- phase(context.Background(), b, config.Spec{Servers: []config.Server{server(b, "a", "x")}},
			func(o *ref.Options) { o.Control = theirs })
	}()
	replies := json.NewDecoder(ours)
	do := func(op string) {
		fmt.Fprintf(ours, `{"op":%q,"name":"a"}`+"\n", op)
		var r struct {
			OK     bool
			Detail string
		}
		if err := replies.Decode(&r); err != nil || !r.OK {
			b.Fatal(op, r, err)
		}
	}
	round := func() { do("stop"); do("start") }
	c := curve{title: "starts and stops"}
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			clean(b, round, func() {
				for range n {
					round()
				}
			})
			c.add(b, n, "round")
		})
	}
	do("quit")
	<-ended
	_ = ours.Close()
	_ = theirs.Close()
	c.plot(b)
}
