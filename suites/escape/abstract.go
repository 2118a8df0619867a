package escape

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-002",
	Title:  "cannot meet the host on abstract sockets",
	Must:   "The host's abstract Unix sockets MUST NOT be reachable from the sandbox, nor the sandbox's from the host.",
	Level:  catalog.Security,
	Clause: "11.2",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"host-netns-shared"},
	Why:    "Abstract sockets belong to the network namespace; a Landlock scope works in one direction only.",
}, []kit.Row[bool]{
	{Name: "out", Value: true},
	{Name: "in", Value: false},
}, func(ctx context.Context, t *kit.T, out bool) {
	outside, agent := t.Outside(ctx), t.Start(ctx, subject.Spec{}).Agent
	listener, dialler := outside, agent
	if !out {
		listener, dialler = agent, outside
	}
	name := "@bridgecheck-" + t.Unique()
	listen := attempt.Attempt{Op: attempt.OpListen, Network: "unix", Address: name, Conn: "abstract"}
	dial := attempt.Attempt{Op: attempt.OpDial, Network: "unix", Address: name, Data: []byte("ping"), Until: "size", Size: 4}
	t.Control("a socket listens at the name", listener.Do(ctx, listen), kit.Succeed())
	t.Attempt("the other side connects to it", dialler.Do(ctx, dial), kit.HaveErrno("ECONNREFUSED", "EPERM", "EACCES"))
	// The control comes last: what the other side began has been accepted before it.
	t.Control("its own side reaches it", listener.Do(ctx, dial), kit.HaveData("ping"))
	t.FarSide("connections it got but the control's", int(listener.Close(ctx, "abstract").Value)-1, kit.BeNone())
})
