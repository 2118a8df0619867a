package lifecycle

import (
	"bytes"
	"context"
	"io"
	"os"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// much is more than any pipe or buffer on the way holds.
const much = 8 << 20

var _ = kit.Table(catalog.Case{
	ID:     "LIF-011",
	Title:  "passes the agent's standard streams through unchanged",
	Must:   "stdin, stdout and stderr of the agent MUST be passed through unchanged, large output too, with no deadlock.",
	Level:  catalog.Interoperability,
	Clause: "6.11",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"stderr-into-stdout"},
	Why:    "Agents are driven over their standard streams; a launcher that reads one pipe after the other stands still at 64 KiB.",
}, []kit.Row[func(context.Context, *kit.T, uint64)]{
	{Name: "stdin", Value: stdin},
	{Name: "stdout", Value: stdout},
	{Name: "stderr", Value: stderr},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T, uint64)) {
	body(ctx, t, 11)
})

func stdin(ctx context.Context, t *kit.T, seed uint64) {
	order := attempt.Attempt{Op: attempt.OpStdin, Size: much}
	want := content.SHA256(seed, much)
	t.Control("what a probe outside reads", t.Outside(ctx).Feed(ctx, order, content.Reader(seed, much)).SHA256, kit.Be(want))
	agent := t.Start(ctx, subject.Spec{}).Agent
	t.Attempt("what the agent reads", agent.Feed(ctx, order, content.Reader(seed, much)).SHA256, kit.Be(want))
}

func stdout(ctx context.Context, t *kit.T, seed uint64) {
	order := attempt.Attempt{Op: attempt.OpWrite, Args: []string{"stdout"}, Size: much, Seed: seed}
	want := content.SHA256(seed, much)
	_, outside := t.Outside(ctx).Drain(ctx, order, much)
	t.Control("what comes of a probe outside", outside, kit.Be(want))
	_, came := t.Start(ctx, subject.Spec{}).Agent.Drain(ctx, order, much)
	t.Attempt("what comes of the agent", came, kit.Be(want))
}

// The subject may write lines of its own to stderr, but not in the middle of
// what the agent writes at once.
func stderr(ctx context.Context, t *kit.T, seed uint64) {
	file, err := os.Create(t.Dir("stderr") + "/stderr")
	if err != nil {
		t.Fatal("make file: %v", err)
	}
	defer file.Close()
	phase := t.Start(ctx, subject.Spec{}, kit.WithStderr(file))
	wrote := phase.Agent.Do(ctx, attempt.Attempt{Op: attempt.OpWrite, Args: []string{"stderr"}, Size: much, Seed: seed})
	t.Control("what the agent wrote", wrote.SHA256, kit.Be(content.SHA256(seed, much)))
	t.Attempt("the phase ends", phase.Finish(ctx), kit.Be(kit.Exit{}))
	want, err := io.ReadAll(content.Reader(seed, much))
	if err != nil {
		t.Fatal("make content: %v", err)
	}
	got, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal("read file: %v", err)
	}
	t.Attempt("it stands in the subject's stderr, whole", bytes.Contains(got, want), kit.Be(true))
}
