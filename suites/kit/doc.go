// Package kit is what the suites are written with.
//
// A check is a literal and a body beside it:
//
//	var _ = kit.Check(catalog.Case{ID: "ALW-002", …}, func(ctx context.Context, t *kit.T) {
//		blocked := t.HTTP()
//		phase := t.Start(ctx, subject.Spec{})
//		t.Control("the probe reaches the host outside", t.Outside(ctx).Get(ctx, blocked.URL()), kit.BeStatus(200))
//		t.Attempt("CONNECT to a host that is not declared", phase.Agent.Connect(ctx, blocked.Authority()), kit.BeRefused(403))
//		t.FarSide("connections at the host", t.Connections(blocked), kit.BeNone())
//	})
//
// [T.Control] shows that the thing works when it is allowed, or that the door
// exists outside; [T.Attempt] is the claim; [T.FarSide] asks the one witness the
// subject cannot influence. A check that passes without a control that held is
// an error of the harness, not a pass. Everything a body starts is ended by kit,
// last in first out, whether the check passed or not. When a check of security
// fails, its last attempt inside is made again, watched from outside by ptrace(2),
// and what the kernel was asked and answered is part of the evidence.
//
// Skips happen here alone, by capability and by host fact, never by the name of
// a product. The package imports Ginkgo by name; bodies need not import it.
package kit
