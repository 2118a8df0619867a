package arapuca

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

var _ = kit.Table(catalog.Case{
	ID:     "ARA-010",
	Title:  "gives a network namespace that can be used",
	Must:   "lo MUST be up with UseNetNS alone, and INET sockets MUST work under the profile that the relay needs.",
	Level:  catalog.Interoperability,
	Clause: "13.10",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-lo-down", "arapuca-strict"},
	Why:    "Read in the sources: lo comes up only where there is a relay, and the default profile refuses the sockets that would reach it.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "lo", Value: loopback},
	{Name: "inet", Value: inet},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func loopback(ctx context.Context, t *kit.T) {
	t.Control("two sockets in a bare namespace", meet(ctx, t.Bare(ctx)), kit.HaveErrno("ENETUNREACH", "EADDRNOTAVAIL"))
	p := t.Companion(ctx, whole(probe(t, launch{NetNS: true, Seccomp: "baseline"})))
	t.Control("Launch", launched(ctx, t, p).Error, kit.Be(""))
	t.Attempt("two sockets of the sandbox meet on its loopback", meet(ctx, p.Agent), kit.HaveData("ping"))
	p.Finish(ctx)
}

func meet(ctx context.Context, a *kit.Agent) attempt.Observation {
	listening := a.Do(ctx, attempt.Attempt{Op: attempt.OpListen, Network: "tcp4", Address: "127.0.0.1:0", Conn: "listener"})
	if listening.Errno != "" {
		return listening
	}
	return a.Do(ctx, attempt.Attempt{
		Op: attempt.OpDial, Network: "tcp4", Address: listening.Local, Data: []byte("ping"), Until: "size", Size: 4, TimeoutMS: 3000,
	})
}

func inet(ctx context.Context, t *kit.T) {
	path := t.Dir("far") + "/proxy"
	t.SocketUpstream(upstream.RawEcho, path)
	hello := attempt.Attempt{Op: attempt.OpDial, Network: "unix", Address: path, Data: []byte("hello\n"), Until: "line"}
	t.Control("the socket outside", t.Outside(ctx).Do(ctx, hello), kit.HaveData("hello\n"))
	p := t.Companion(ctx, whole(probe(t, launch{NetNS: true, Seccomp: "baseline", ProxySocket: path})))
	t.Control("Launch", launched(ctx, t, p).Error, kit.Be(""))
	hello.Network, hello.Address = "tcp4", relayPort
	t.Attempt("the relay's port in the sandbox leads to it", p.Agent.Do(ctx, hello), kit.HaveData("hello\n"))
	p.Finish(ctx)
}

var _ = kit.Table(catalog.Case{
	ID:     "ARA-012",
	Title:  "agrees with itself about namespaces",
	Must:   "Without user namespaces Launch MUST fail by name, and NetNSAvailable MUST agree with what Launch finds.",
	Level:  catalog.Interoperability,
	Clause: "13.12",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-netns-wrong"},
	Why:    "Read in the sources: the question maps another user than the launch does, and what fails in the launch comes back as exit code 1 of the command.",
}, []kit.Row[string]{
	{Name: "here", Value: ""},
	{Name: "max-user-ns", Value: "max-user-ns=0"},
}, func(ctx context.Context, t *kit.T, knob string) {
	o := whole(probe(t, launch{NetNS: true}))
	o.Steps = append([]step{{Do: "netns"}}, o.Steps...)
	free := t.Companion(ctx, o)
	t.Control("Launch where it is possible", launched(ctx, t, free).Error, kit.Be(""))
	free.Finish(ctx)
	if knob == "" {
		t.Attempt("NetNSAvailable there", done(ctx, t, free, "netns", 1).Available, kit.Be(true))
		return
	}
	denied := t.Companion(ctx, o, kit.WithKnob(knob))
	t.Attempt("the calling program", denied.Finish(ctx), kit.Be(kit.Exit{}))
	t.Attempt("NetNSAvailable where it is not", done(ctx, t, denied, "netns", 1).Available, kit.Be(false))
	t.Attempt("the error of Launch there", launched(ctx, t, denied).Error, kit.Contain("namespace"))
})
