package arapuca

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/suites/kit"
)

// The wire of the program beside the subject.
type (
	order struct {
		Steps []step `json:"steps"`
	}
	step struct {
		Do        string  `json:"do"`
		Box       string  `json:"box,omitempty"`
		Process   string  `json:"process,omitempty"`
		Launch    *launch `json:"launch,omitempty"`
		Path      string  `json:"path,omitempty"`
		TimeoutMS int     `json:"timeout_ms,omitempty"`
	}
	launch struct {
		Command      string            `json:"command"`
		Args         [][]byte          `json:"args,omitempty"`
		Env          map[string][]byte `json:"env,omitempty"`
		Read         []string          `json:"read,omitempty"`
		WorkDir      string            `json:"work_dir,omitempty"`
		NetNS        bool              `json:"netns,omitempty"`
		PIDNS        bool              `json:"pidns,omitempty"`
		Seccomp      string            `json:"seccomp,omitempty"`
		ProxySocket  string            `json:"proxy_socket,omitempty"`
		AllowedHosts []rule            `json:"allowed_hosts,omitempty"`
	}
	rule struct {
		Host string `json:"host"`
		Port int    `json:"port"`
	}
	fact struct {
		Do        string            `json:"do"`
		Error     string            `json:"error"`
		Lacks     string            `json:"lacks"`
		Timeout   bool              `json:"timeout"`
		Code      int               `json:"code"`
		Available bool              `json:"available"`
		Versions  map[string]string `json:"versions"`
	}
)

// whole is a launch from New to Close.
func whole(l launch) order {
	return order{[]step{
		{Do: "new", Box: "box"}, begin(l), {Do: "wait", Process: "agent"}, {Do: "cleanup", Process: "agent"}, {Do: "close", Box: "box"},
	}}
}

func begin(l launch) step { return step{Do: "launch", Box: "box", Process: "agent", Launch: &l} }

// facts are those of the steps done so far, of one kind.
func facts(p *kit.Phase, do string) (all []fact) {
	for _, line := range p.EventLines() {
		var f fact
		if json.Unmarshal(line, &f) == nil && f.Do == do {
			all = append(all, f)
		}
	}
	return all
}

// done waits until a step of the kind is done, for the n-th time, and gives its
// fact. A program that ends before has been ended by the library: that is told as
// the fact.
func done(ctx context.Context, t *kit.T, p *kit.Phase, do string, n int) fact {
	ginkgo.GinkgoHelper()
	var got []fact
	t.Await(ctx, "the step "+do, func() bool {
		gone := p.Ended() // asked first: what it wrote before it ended counts
		got = facts(p, do)
		return gone || len(got) >= n
	})
	if len(got) < n {
		return fact{Do: do, Error: "the calling program ended: " + p.Wait(ctx).String()}
	}
	f := got[n-1]
	if f.Lacks != "" {
		t.NotApplicable("%s", f.Lacks)
	}
	return f
}

// launched is what Launch gave.
func launched(ctx context.Context, t *kit.T, p *kit.Phase) fact {
	ginkgo.GinkgoHelper()
	return done(ctx, t, p, "launch", 1)
}

// words are how a process ended, as a caller can tell by what Wait gave.
func (f fact) words() string {
	switch _, signal, died := strings.Cut(f.Error, "signal "); {
	case f.Timeout:
		return "it has not ended"
	case died:
		return "signal " + signal
	case f.Error != "":
		return "error: " + f.Error
	}
	return "code " + decimal(f.Code)
}

// probe is a launch of the probe.
func probe(t *kit.T, l launch) launch {
	l.Command = t.Probe()
	return l
}

// open is a launch of the probe with a proxy that has rules.
func open(t *kit.T, rules ...rule) launch {
	return probe(t, launch{Seccomp: "baseline", AllowedHosts: rules})
}

func ruleOf(u *kit.Upstream) rule { return rule{u.Name, u.Port()} }
