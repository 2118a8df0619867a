package ref_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

// held counts what this process holds: descriptors and children.
func held(b *testing.B) (descriptors, children int) {
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

// clean runs f after a first round, which opens what stays open, and demands
// that nothing of it is left.
func clean(b *testing.B, f func()) {
	b.Helper()
	f()
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
	for _, n := range []int{1, 10, 25, 50, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var servers []config.Server
			for i := range n {
				servers = append(servers, server(b, fmt.Sprintf("s%d", i), "x"))
			}
			clean(b, func() {
				ours, theirs := net.Pipe()
				events := newJournal()
				go func() {
					events.await("ready")
					fmt.Fprintln(ours, `{"op":"quit"}`)
					_, _ = io.Copy(io.Discard, ours)
				}()
				r := phase(context.Background(), b, config.Spec{Servers: slices.Clone(servers)}, func(o *ref.Options) {
					o.Control, o.Events = theirs, event.NewRecorder(events)
				})
				if r.exit != (ref.Exit{Reason: ref.ReasonQuit}) {
					b.Fatal(r.exit, r.err)
				}
				_ = theirs.Close()
				_ = ours.Close()
			})
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*n), "ms/server")
		})
	}
}

// BenchmarkPhases is n phases at once, each with a server and an agent.
func BenchmarkPhases(b *testing.B) {
	needNamespaces(b)
	for _, n := range []int{1, 5, 10, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			clean(b, func() {
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
			})
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*n), "ms/phase")
		})
	}
}

// BenchmarkStartStop is a server up and down again in one phase, by commands;
// with -benchtime=1000x, a thousand times.
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
	clean(b, func() { do("stop"); do("start") })
	do("quit")
	<-ended
	_ = ours.Close()
	_ = theirs.Close()
}
