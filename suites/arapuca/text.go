package arapuca

import (
	"bytes"
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

// given is a string for the command.
type given struct {
	text []byte
	env  bool // a variable's value, not an argument
}

var long = bytes.Repeat([]byte("x"), 5000)

var _ = kit.Table(catalog.Case{
	ID:     "ARA-013",
	Title:  "passes arguments and variables whole, or refuses them",
	Must:   "An argument or a variable that is long, not UTF-8 or holds a NUL MUST reach the command whole, or be refused by Launch: never cut, never left out.",
	Level:  catalog.Interoperability,
	Clause: "13.13",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-cuts-text"},
	Why:    "Prompts are arguments. Read in the sources: strings end at 4096 bytes; what add_env says is not looked at, so a variable is dropped; C strings end at a NUL.",
}, []kit.Row[given]{
	{Name: "long-argument", Value: given{long, false}},
	{Name: "long-variable", Value: given{long, true}},
	{Name: "nul-argument", Value: given{[]byte("a\x00b"), false}},
	{Name: "nul-variable", Value: given{[]byte("a\x00b"), true}},
	{Name: "binary-argument", Value: given{[]byte("a\xff\xfeb"), false}},
	{Name: "binary-variable", Value: given{[]byte("a\xff\xfeb"), true}},
}, func(ctx context.Context, t *kit.T, g given) {
	t.Control("a short one in ASCII", pass(ctx, t, given{[]byte("short"), g.env}), kit.Be("passed"))
	t.Attempt("this one", pass(ctx, t, g), kit.BeOneOf("passed", refusedAtLoad))
})

// pass launches the probe with the string and asks it what it has got.
func pass(ctx context.Context, t *kit.T, g given) string {
	l := launch{Args: [][]byte{g.text}}
	if g.env {
		l = launch{Env: map[string][]byte{"GIVEN": g.text}}
	}
	p := t.Companion(ctx, whole(probe(t, l)))
	if f := launched(ctx, t, p); f.Error != "" {
		if p.Finish(ctx) != (kit.Exit{}) {
			return f.Error
		}
		return refusedAtLoad
	}
	facts := p.Agent.Facts(ctx)
	p.Finish(ctx)
	got := ""
	if !g.env && len(facts.Args) == 2 {
		got = facts.Args[1]
	}
	for _, kv := range facts.Env {
		if value, ok := strings.CutPrefix(kv, "GIVEN="); ok && g.env {
			got = value
		}
	}
	// JSON has replaced each byte that is not UTF-8.
	want := strings.NewReplacer("\xff", "\ufffd", "\xfe", "\ufffd").Replace(string(g.text))
	switch {
	case got == want:
		return "passed"
	case got == "":
		return "left out"
	}
	return "passed as " + decimal(len(got)) + " bytes"
}
