// Package soak keeps a subject busy for a long time and looks what it leaves:
// phases with servers of every bad kind are ended in every way there is, at
// chosen and at random moments, and after each round nothing may be left of
// them. It runs in a lab, whose processes, sockets and files are all its own.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"
)

// Config is what one soak is told, with paths as they are in its lab.
type Config struct {
	Cell    string        `json:"cell"`
	Subject string        `json:"subject"`
	Probe   string        `json:"probe"`
	FakeMCP string        `json:"fakemcp"`
	Work    string        `json:"work"` // a folder of its own
	For     time.Duration `json:"for"`
	Seed    uint64        `json:"seed"`
	// HostNetNS is the inode of the machine's own network namespace.
	HostNetNS uint64 `json:"host_netns"`
}

// width is how many phases run at once: they may not harm each other either.
const width = 3

// patience is how long something may be left of a phase that has ended; what
// ends by itself ends in milliseconds.
const patience = 15 * time.Second

// driver is a soak in progress.
type driver struct {
	cfg    Config
	out    io.Writer
	clean  census // of the lab before the first phase
	ended  map[string]int
	phases int
	busy   int // phases of which something was there when they were killed
	killed int
	slow   time.Duration // the longest that something was left
}

// Run soaks the subject until the time is up or something is left. The error
// says what is left, of which round, or why nothing could be learnt.
func Run(ctx context.Context, cfg Config, out io.Writer) error {
	d := &driver{cfg: cfg, out: out, ended: map[string]int{}}
	if err := warm(); err != nil {
		return err
	}
	var err error
	if d.clean, err = take(cfg.Work); err != nil {
		return err
	}
	chance := rand.New(rand.NewPCG(cfg.Seed, cfg.Seed))
	begun, told := time.Now(), time.Now()
	for round := 1; time.Since(begun) < cfg.For && ctx.Err() == nil; round++ {
		if err := d.round(ctx, chance); err != nil {
			return fmt.Errorf("%s, round %d of seed %d: %w", cfg.Cell, round, cfg.Seed, err)
		}
		if time.Since(told) >= 10*time.Second {
			told = time.Now()
			fmt.Fprintf(out, "%-5s %6s  %5d phases, clean after each\n", cfg.Cell, time.Since(begun).Round(time.Second), d.phases)
		}
	}
	d.summary()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case d.busy*4 < d.killed:
		return fmt.Errorf("%s: of %d phases that were killed only %d had anything to leave: nothing is proven", cfg.Cell, d.killed, d.busy)
	}
	return nil
}

// warm opens what the runtime keeps open from the first pipe on: it would count
// as left.
func warm() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	return errors.Join(r.Close(), w.Close())
}

func (d *driver) summary() {
	fmt.Fprintf(d.out, "%-5s %d phases, nothing left; %d killed, %d of them while they had processes or files; gone within %v at most\n",
		d.cfg.Cell, d.phases, d.killed, d.busy, d.slow.Round(time.Millisecond))
	for _, e := range ends {
		fmt.Fprintf(d.out, "%-5s %6d  %s\n", d.cfg.Cell, d.ended[e.name], e.name)
	}
}

// round runs phases side by side, each to its own end, and looks what is left.
func (d *driver) round(ctx context.Context, chance *rand.Rand) error {
	results := make([]result, 1+chance.IntN(width))
	first := ends[chance.IntN(len(ends))]
	if first.alone {
		results = results[:1]
	}
	var wg sync.WaitGroup
	for i := range results {
		end, own := first, rand.New(rand.NewPCG(chance.Uint64(), 0))
		for i > 0 && (end == first || end.alone) {
			end = ends[chance.IntN(len(ends))]
		}
		wg.Go(func() { results[i] = d.phase(ctx, i, end, own) })
	}
	wg.Wait()
	var names []string
	doubtful := false // files may wait for the next phase to sweep them
	for _, r := range results {
		if r.err != nil {
			return r.err
		}
		names = append(names, r.end.name)
		d.phases++
		d.ended[r.end.name]++
		doubtful = doubtful || r.end.alone
		if r.end.kills {
			d.killed++
		}
		if r.busy {
			d.busy++
		}
	}
	if doubtful {
		// What a phase has left that lost more than its own process goes with the
		// next one.
		if r := d.phase(ctx, 0, quiet, chance); r.err != nil {
			return r.err
		}
		d.phases++
	}
	if left := d.awaitClean(ctx); len(left) > 0 {
		return fmt.Errorf("after %s is left:\n  %s", strings.Join(names, ", "), strings.Join(left, "\n  "))
	}
	return nil
}

// awaitClean gives what is left in the end.
func (d *driver) awaitClean(ctx context.Context) (left []string) {
	begun := time.Now()
	for {
		now, err := take(d.cfg.Work)
		if err != nil {
			return []string{err.Error()}
		}
		left = now.beyond(d.clean)
		took := time.Since(begun)
		if len(left) == 0 {
			d.slow = max(d.slow, took)
			return nil
		}
		if took > patience || !pause(ctx, 2*time.Millisecond) {
			return left
		}
	}
}

// pause reports false when the context ended it.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
