package probe_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/probe"
)

func TestRefusesInTheHostsNamespace(t *testing.T) {
	a := start(t, "bare", false)
	for _, att := range []attempt.Attempt{
		{Op: attempt.OpDial, Network: "tcp", Address: "127.0.0.1:1"},
		{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "l"},
		{Op: attempt.OpMany, Network: "tcp", Address: "127.0.0.1:1", Count: 1},
		{Op: attempt.OpHTTP, URL: "http://127.0.0.1:1/"},
		{Op: attempt.OpMCP, URL: "http://127.0.0.1:1/"},
		{Op: attempt.OpResolve, Address: "localhost"},
		{Op: attempt.OpSocket, Words: []uint64{1, 1, 0}},
		{Op: attempt.OpCall, Call: "unshare"},
		{Op: attempt.OpSetLink, Address: "lo", Args: []string{"down"}},
		{Op: attempt.OpOpen, Path: "/dev/null", Args: []string{"w"}},
		{Op: attempt.OpOpen, Path: "/dev/null", Args: []string{"r", "create"}},
		{Op: attempt.OpSpawn, Args: []string{"child"}},
		{Op: attempt.OpRun, Path: "/proc/self/exe"},
		{Op: attempt.OpSignal, PID: os.Getpid()},
		{Op: attempt.OpPtrace, PID: os.Getpid()},
		{Op: attempt.OpSend},
		{Op: attempt.OpReceive},
		{Op: attempt.OpExchange},
	} {
		if o := a.do(att); !strings.Contains(o.Refused, "host's own") || o.Errno != "" {
			t.Errorf("%s: refused %q, errno %q", att.Op, o.Refused, o.Errno)
		}
	}
	facts := a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts
	if facts.Namespaces["net"] != hostNetNS(t) || facts.PID != a.cmd.Process.Pid {
		t.Errorf("facts %+v", facts)
	}
	a.must(attempt.Attempt{Op: attempt.OpReadFile, Path: "/proc/self/status"})
	a.must(attempt.Attempt{Op: attempt.OpListDir, Path: "/"})
	a.must(attempt.Attempt{Op: attempt.OpOpen, Path: "/dev/null", Args: []string{"r"}})
}

func TestEveryOpIsKnown(t *testing.T) {
	a := start(t, "bare", true)
	for _, op := range []string{
		attempt.OpFacts, attempt.OpDial, attempt.OpListen, attempt.OpSend, attempt.OpReceive, attempt.OpExchange,
		attempt.OpCloseWrite, attempt.OpClose, attempt.OpMany, attempt.OpHTTP, attempt.OpMCP, attempt.OpResolve,
		attempt.OpSocket, attempt.OpCall, attempt.OpSetLink, attempt.OpReadFile, attempt.OpOpen, attempt.OpListDir,
		attempt.OpSpawn, attempt.OpSignal, attempt.OpPtrace, attempt.OpStdin, attempt.OpWrite,
	} {
		// With all fields missing each is refused or fails, but is never unknown.
		if o := a.do(attempt.Attempt{Op: op}); strings.Contains(o.Refused, "unknown op") {
			t.Errorf("%s: %s", op, o.Refused)
		}
	}
	if o := a.do(attempt.Attempt{Op: "format-disk"}); !strings.Contains(o.Refused, "unknown op") {
		t.Errorf("unknown op: %+v", o)
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		code     int
		refusals int
	}{
		{"nothing", "", 0, 0},
		{"no order", "hello\n", 2, 1},
		{"no nonce", `{"host_netns":1}` + "\n", 2, 1},
		{"order alone", `{"host_netns":1,"nonce":"n"}`, 0, 0},
		{"no attempt", `{"host_netns":1,"nonce":"n"}` + "\n[]\n{\"op\":1}\n", 0, 2},
		{"no host namespace", `{"nonce":"n"}` + "\n{\"op\":\"signal\",\"pid\":1}\n", 0, 1},
		{"blank lines", `{"host_netns":1,"nonce":"n"}` + "\n\n\n", 0, 0},
		{"last line without end", `{"host_netns":1,"nonce":"n"}` + "\n" + `{"op":"exit","code":5}`, 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := probe.Run(strings.NewReader(c.in), &out, &out); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			if got := strings.Count(out.String(), `"refused"`); got != c.refusals {
				t.Errorf("%d refusals, want %d: %s", got, c.refusals, out.String())
			}
		})
	}
}

func TestFactsOfANamespace(t *testing.T) {
	a := start(t, "lab", true, "PROBE_ENV=here")
	facts := a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts
	if facts.Namespaces["net"] == hostNetNS(t) || facts.Namespaces["net"] == 0 || len(facts.Namespaces) != 7 {
		t.Errorf("namespaces %v", facts.Namespaces)
	}
	var lo attempt.Interface
	for _, i := range facts.Interfaces {
		if i.Name == "lo" {
			lo = i
		}
	}
	if !slices.Contains(lo.Flags, "UP") || !slices.Contains(lo.Flags, "RUNNING") || !slices.Contains(lo.Addresses, "127.0.0.1/8") {
		t.Errorf("lo %+v", lo)
	}
	local := attempt.Route{Family: "inet", Destination: "127.0.0.0/8", Interface: "lo", Table: 255, Type: "local"}
	if !slices.Contains(facts.Routes, local) {
		t.Errorf("routes %+v", facts.Routes)
	}
	if !slices.Contains(facts.Env, "PROBE_ENV=here") || facts.PPID != os.Getpid() || facts.UIDMap == "" || facts.Cwd == "" {
		t.Errorf("facts %+v", facts)
	}
	if facts.Capabilities["CapEff"] == "" || facts.NoNewPrivs || !slices.Contains(facts.Processes, facts.PID) {
		t.Errorf("status %+v", facts)
	}
	if facts.Terminal == "" {
		t.Error("nothing about the terminal")
	}
}

func TestDescriptorsAreTheInheritedOnes(t *testing.T) {
	a := start(t, "lab", true)
	before := a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts.Descriptors
	for fd := range 3 {
		if before[fd] == "" {
			t.Errorf("descriptor %d is missing: %v", fd, before)
		}
	}
	// What the probe opens itself is none of them.
	a.must(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "l"})
	after := a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts.Descriptors
	if len(after) != len(before) {
		t.Errorf("before %v, after %v", before, after)
	}
}
