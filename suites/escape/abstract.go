package escape

import (
	"context"
	"slices"

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
	listening := listener.Do(ctx, listen)
	if !out && slices.Contains(familyRefused, listening.Errno) {
		// Where the agent has no such sockets at all there is none to reach.
		t.Control("the host's own listens at the name", outside.Do(ctx, listen), kit.Succeed())
		t.Control("and is reached outside", outside.Do(ctx, dial), kit.HaveData("ping"))
		t.Attempt("a socket of the agent's at the name", listening, kit.HaveErrno(familyRefused...))
		return
	}
	t.Control("a socket listens at the name", listening, kit.Succeed())
	t.Attempt("the other side connects to it", dialler.Do(ctx, dial), kit.HaveErrno(append(slices.Clone(familyRefused), "ECONNREFUSED")...))
	// The control comes last: what the other side began has been accepted before it.
	t.Control("its own side reaches it", listener.Do(ctx, dial), kit.HaveData("ping"))
	t.FarSide("connections it got but the control's", int(listener.Close(ctx, "abstract").Value)-1, kit.BeNone())
})

// familyRefused are the errnos of a socket of a family that the agent may not
// have, by filter or by module.
var familyRefused = []string{"EPERM", "EACCES", "EAFNOSUPPORT"}
