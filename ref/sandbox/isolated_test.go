package sandbox_test

import (
	"testing"

	"bridgecheck/ref/sandbox"
)

func TestStatus(t *testing.T) {
	needNamespaces(t)
	out, exit := run(t, role(t, "status"))
	if exit != (sandbox.Exit{}) {
		t.Fatalf("exit %+v: %s", exit, out)
	}
	got := facts(out)
	const none = "0000000000000000"
	for name, want := range map[string]string{
		"CapInh": none, "CapPrm": none, "CapEff": none, "CapBnd": none, "CapAmb": none,
		"NoNewPrivs": "1", "Seccomp": "2", "sid": "true", "tty": "ENXIO",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}
