package escape

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:      "ESC-010",
	Title:   "has no capability and cannot gain one",
	Must:    "no_new_privs MUST be set and no capability MUST be left, in the bounding set too; set-uid programs gain nothing.",
	Level:   catalog.Security,
	Clause:  "11.10",
	RowHost: []catalog.HostFact{catalog.HostTwoUIDs},
	Faults:  []string{"capabilities-kept", "bounding-set-kept"},
	Why:     "A capability in the agent's user namespace is enough to take its network apart; one in the bounding set comes back with the next exec.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "sets", Value: capabilitySets},
	{Name: "set-uid", Value: setUID},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func capabilitySets(ctx context.Context, t *kit.T) {
	bare := t.Bare(ctx).Facts(ctx)
	t.Control("a bare namespace has capabilities in its bounding set", bare.Capabilities["CapBnd"], kit.Differ(none))
	t.Control("and no_new_privs is not set there", bare.NoNewPrivs, kit.Be(false))

	inside := t.Start(ctx, subject.Spec{}).Agent.Facts(ctx)
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		t.Attempt(set, inside.Capabilities[set], kit.Be(none))
	}
	t.Attempt("no_new_privs", inside.NoNewPrivs, kit.Be(true))
}

// none is an empty capability set as /proc/self/status prints it.
const none = "0000000000000000"

// setUID lets an ordinary user's agent run a set-uid copy of the probe that
// belongs to root: it reports its capabilities, and what it reads of a file that
// only root may read.
func setUID(ctx context.Context, t *kit.T) {
	t.RequireHost(catalog.HostTwoUIDs)
	dir := plantSetUID(t)
	run := attempt.Attempt{Op: attempt.OpRun, Path: dir + "/probe", Data: lines(
		attempt.Order{Nonce: t.Unique()}, attempt.Attempt{ID: 1, Op: attempt.OpFacts}, attempt.Attempt{ID: 2, Op: attempt.OpReadFile, Path: dir + "/secret"})}
	became := reports(t.OtherUser(ctx).Do(ctx, run))
	t.Control("what the program reads for another user outside", became[2], kit.HaveText("secret"))
	t.Control("capabilities that this user gains by it", became[1].Facts.Capabilities["CapEff"], kit.Differ(none))

	spec := subject.Spec{Paths: &subject.Paths{RO: []string{dir}}}
	phase := t.Start(ctx, spec, kit.AsOtherUser())
	phase.Honoured(ctx, "paths")
	agent := phase.Agent
	ran := agent.Do(ctx, run)
	t.Control("the program in the sandbox", ran, kit.Succeed())
	became = reports(ran)
	t.Attempt("capabilities that the agent gains by it", became[1].Facts.Capabilities["CapEff"], kit.Be(none))
	t.Attempt("what the program reads for the agent", became[2], kit.HaveErrno("EACCES", "EPERM"))
}

// plantSetUID makes a folder with the program and the secret, where the lab
// honours the set-uid bit.
func plantSetUID(t *kit.T) string {
	dir, err := os.MkdirTemp("/tmp", "set-uid-")
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(dir+"/secret", []byte("secret"), 0o600)
	}
	if err == nil {
		err = duplicate(t.Probe(), dir+"/probe")
	}
	if err == nil {
		err = os.Chmod(dir+"/probe", 0o755|os.ModeSetuid)
	}
	if err != nil {
		t.Fatal("plant a set-uid program: %v", err)
	}
	return dir
}

func duplicate(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// lines is what a probe reads: one JSON value a line.
func lines(values ...any) []byte {
	var all []byte
	for _, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err) // our own types
		}
		all = append(append(all, raw...), '\n')
	}
	return all
}

// reports are the observations of a probe that was run as a program, by id; one
// that is missing is empty.
func reports(ran attempt.Observation) map[int]attempt.Observation {
	all := map[int]attempt.Observation{1: {Facts: &attempt.Facts{}}, 2: {}}
	for line := range strings.Lines(ran.Text) {
		var o attempt.Observation
		if json.Unmarshal([]byte(line), &o) == nil && o.ID > 0 && (o.ID != 1 || o.Facts != nil) {
			all[o.ID] = o
		}
	}
	return all
}
