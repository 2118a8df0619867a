package fallback

import (
	"context"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// weaker is a way to a shared network, and what is lost on it.
type weaker struct {
	spec subject.Spec
	knob string
	lost []string // layers told as missing
}

var _ = kit.Table(catalog.Case{
	ID:     "FBK-008",
	Title:  "keeps every other layer in a shared network, and names what is lost",
	Must:   "In shared-network the other layers MUST stay: all of them at level shared/userns; Landlock, seccomp, no_new_privs, descriptors and environment at shared/none, where what is lost MUST be named.",
	Level:  catalog.Security,
	Clause: "7.8",
	Needs:  []subject.Capability{subject.NetNS, subject.Fallback, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"shared-without-seccomp", "shared-without-landlock", "loss-untold", "bounding-set-told-empty"},
	Why:    "\"No network isolation\" is not \"no isolation\"; one switch for both is how sandboxes are lost.",
}, []kit.Row[weaker]{
	{Name: "userns", Value: weaker{spec: subject.Spec{Network: "shared"}}},
	{Name: "none", Value: weaker{spec: subject.Spec{Policy: "prefer"}, knob: "max-user-ns=0", lost: []string{"mountns", "pidns", "userns"}}},
}, func(ctx context.Context, t *kit.T, w weaker) {
	secret := plant(t)
	outside := t.Outside(ctx)
	t.Control("a probe outside reads the planted file", outside.Do(ctx, attempt.Attempt{Op: attempt.OpReadFile, Path: secret}), kit.HaveText("planted"))
	world := outside.Facts(ctx)
	t.Control("a probe outside may gain privileges", world.NoNewPrivs, kit.Be(false))

	descriptor, err := os.Open(secret)
	if err != nil {
		t.Fatal("open the planted file: %v", err)
	}
	defer descriptor.Close()
	options := []kit.Option{kit.WithFile(7, descriptor), kit.WithEnv("LD_PRELOAD=/nowhere/lib.so", "BASH_ENV=/nowhere/rc")}
	if w.knob != "" {
		options = append(options, kit.WithKnob(w.knob))
	}
	phase := t.Start(ctx, w.spec, options...)
	t.Attempt("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	told := phase.Mode(ctx)
	t.Attempt("the mode", told.Mode, kit.Be(shared))
	agent, facts := phase.Agent, phase.Agent.Facts(ctx)
	t.Attempt("the network is the host's", facts.Namespaces["net"], kit.Be(world.Namespaces["net"]))
	always(ctx, t, agent, facts, secret)

	if w.lost == nil {
		t.Attempt("the level", told.Level, kit.Be(userns))
		for _, kind := range []string{"user", "pid", "mnt"} {
			t.Attempt("a "+kind+" namespace of its own", facts.Namespaces[kind], kit.Differ(world.Namespaces[kind]))
		}
		t.Attempt("effective capabilities", strings.Trim(facts.Capabilities["CapEff"], "0"), kit.Be(""))
		return
	}
	t.Attempt("the level", told.Level, kit.Be(none))
	for _, layer := range w.lost {
		t.Attempt("the layer that is told of "+layer, told.Layers[layer], kit.Be("missing"))
	}
	empty := strings.Trim(facts.Capabilities["CapBnd"], "0") == ""
	t.Attempt("capabilities are told as on and the bounding set is not empty", told.Layers["capabilities"] == "on" && !empty, kit.Be(false))
	t.Attempt("the reason says what is lost", told.Reason, kit.Contain("lost"))
})

// plant makes a file outside of everything that is declared.
func plant(t *kit.T) string {
	path := t.Dir("planted") + "/secret"
	if err := os.WriteFile(path, []byte("planted"), 0o600); err != nil {
		t.Fatal("plant file: %v", err)
	}
	return path
}

// always are the layers that need no namespace.
func always(ctx context.Context, t *kit.T, agent *kit.Agent, facts attempt.Facts, secret string) {
	t.Attempt("no_new_privs", facts.NoNewPrivs, kit.Be(true))
	if t.Subject().Claims(subject.Seccomp) {
		t.Attempt("a system call filter", facts.Seccomp, kit.Be(2))
	}
	if t.Subject().Claims(subject.Landlock) {
		read := agent.Do(ctx, attempt.Attempt{Op: attempt.OpReadFile, Path: secret})
		t.Attempt("the agent reads the planted file", read, kit.HaveErrno("EACCES", "EPERM", "ENOENT"))
	}
	if t.Subject().Claims(subject.FDClean) {
		_, open := facts.Descriptors[7]
		t.Attempt("the planted descriptor is there", open && !strings.HasPrefix(facts.Descriptors[7], "anon_inode:"), kit.Be(false))
	}
	if t.Subject().Claims(subject.EnvClean) {
		dangerous := slices.ContainsFunc(facts.Env, func(kv string) bool {
			return strings.HasPrefix(kv, "LD_PRELOAD=") || strings.HasPrefix(kv, "BASH_ENV=")
		})
		t.Attempt("dangerous variables are there", dangerous, kit.Be(false))
	}
	vsock := agent.Do(ctx, attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{unix.AF_VSOCK, unix.SOCK_STREAM, 0}})
	if t.Subject().Claims(subject.Seccomp) {
		t.Attempt("a socket of a family that is refused", vsock, kit.HaveErrno("EAFNOSUPPORT", "EPERM", "EACCES"))
	}
}
