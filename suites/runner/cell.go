// Package runner takes a subject and a list of checks to the cells they run in
// and brings the facts back. A cell is one environment: an engine and its
// privilege, or none, and the user the checks run under.
package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"bridgecheck/suites/kit"
	"bridgecheck/suites/lab"
	"bridgecheck/suites/report"
)

// OrderEnv holds a [CellOrder] as JSON, for a cell in a container.
const OrderEnv = "BRIDGECHECK_CELL"

// SuiteEnv holds a [kit.Config] as JSON, for one shard in its lab.
const SuiteEnv = "BRIDGECHECK_SUITE"

// CellOrder is what one cell is to run, with paths as they are in the cell.
type CellOrder struct {
	Cell report.Cell `json:"cell"`
	// Programs are bridgecheck, subject and the fakes.
	Programs  map[string]string `json:"programs"`
	Shards    [][]string        `json:"shards"`
	Out       string            `json:"out"`
	HostNetNS uint64            `json:"host_netns"`
	Seed      int64             `json:"seed"`
	Patience  time.Duration     `json:"patience,omitempty"`
}

// RunCell runs every shard of a cell, each in a lab of its own, at the same
// time. An error means that facts are missing.
func RunCell(ctx context.Context, o CellOrder, inContainer bool, stdout, stderr io.Writer) error {
	errs := make([]error, len(o.Shards))
	out, diag := &lineWriter{w: stdout}, &lineWriter{w: stderr}
	var wg sync.WaitGroup
	for i, ids := range o.Shards {
		wg.Go(func() { errs[i] = runShard(ctx, o, i, ids, inContainer, out, diag) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func runShard(ctx context.Context, o CellOrder, i int, ids []string, inContainer bool, stdout, stderr io.Writer) error {
	out := filepath.Join(o.Out, fmt.Sprintf("shard-%d", i))
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("cell %s: %w", o.Cell.Name, err)
	}
	bin := func(name string) string { return lab.Root + "/bin/" + name }
	cfg := kit.Config{
		Subject: bin("subject"), Probe: bin("probe"), FakeMCP: bin("fakemcp"), Knob: bin("knob"),
		Select: ids, Facts: lab.Root + "/out/facts.json", Cell: o.Cell, HostNetNS: o.HostNetNS, Seed: o.Seed, Patience: o.Patience,
	}
	if _, has := o.Programs[companion]; has {
		cfg.Companion = bin(companion)
	}
	if _, has := o.Programs[tools]; has {
		cfg.Tools = bin(tools)
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("cell %s: %w", o.Cell.Name, err)
	}
	uid, gid := lab.UserCell(o.Cell.Name == RootCell)
	code, err := lab.Start(ctx, lab.Order{
		Programs: o.Programs, Out: out, UID: uid, GID: gid,
		Args: []string{bin("bridgecheck"), "suite"},
		Env:  []string{SuiteEnv + "=" + string(raw), "HOME=" + lab.Root + "/work", "TMPDIR=" + lab.Root + "/work/tmp", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}, inContainer, stdout, stderr)
	if err != nil {
		return fmt.Errorf("cell %s, shard %d: %w", o.Cell.Name, i, err)
	}
	if code != 0 {
		return fmt.Errorf("cell %s, shard %d: the suite ended with code %d", o.Cell.Name, i, code)
	}
	return nil
}

// lineWriter keeps the shards' lines apart: each writes whole lines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
