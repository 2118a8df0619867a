package fallback

import (
	"context"
	"slices"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// denied is an environment, what must be told of it, and the level that is left.
type denied struct {
	knob   string
	needs  subject.Capability // what is denied
	errnos []string
	cause  string // a word that the true cause cannot be told without
	level  string // under policy prefer
}

var _ = kit.Table(catalog.Case{
	ID:     "FBK-006",
	Title:  "says why this host cannot isolate, and falls back only as the policy says",
	Must:   "On a host that cannot make the namespace the refusal MUST name the stage, the errno and the causes that fit; the bridge MUST fall back only when the policy says so, else exit 125 without starting the agent.",
	Level:  catalog.Security,
	Clause: "7.6",
	Needs:  []subject.Capability{subject.NetNS, subject.Fallback, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"falls-back-unasked", "causes-untold"},
	Why:    "A sandbox that is silently off on one CI machine is off everywhere; \"operation not permitted\" is what people search for in vain.",
}, []kit.Row[denied]{
	{Name: "max-user-ns", Value: denied{"max-user-ns=0", subject.NetNS, []string{"ENOSPC"}, "max_user_namespaces", none}},
	{Name: "max-net-ns", Value: denied{"max-net-ns=0", subject.NetNS, []string{"ENOSPC"}, "max_net_namespaces", userns}},
	{Name: "deny-userns", Value: denied{"deny-userns", subject.NetNS, []string{"EPERM"}, "seccomp", none}},
	{Name: "deny-netns", Value: denied{"deny-netns", subject.NetNS, []string{"EPERM"}, "seccomp", userns}},
	{Name: "chroot", Value: denied{"chroot", subject.NetNS, []string{"EPERM"}, "chroot", none}},
	{Name: "deny-netlink", Value: denied{"deny-netlink", subject.NetNS, []string{"EPERM"}, "seccomp", userns}},
	{Name: "no-landlock", Value: denied{"no-landlock", subject.Landlock, []string{"ENOSYS"}, "Landlock", isolated}},
	{Name: "landlock-off", Value: denied{"landlock-off", subject.Landlock, []string{"EOPNOTSUPP", "ENOTSUP"}, "lsm=", isolated}},
}, func(ctx context.Context, t *kit.T, d denied) {
	t.Require(d.needs)
	if d.needs == subject.Landlock {
		t.RequireHost(catalog.HostLandlock)
	}
	free := t.Start(ctx, subject.Spec{})
	t.Control("without the knob the agent runs", free.Fate(ctx), kit.Be("the agent runs"))
	t.Control("without the knob the level", free.Mode(ctx).Level, kit.Be(isolated))
	free.Finish(ctx)

	required := t.Start(ctx, subject.Spec{Policy: "require"}, kit.WithKnob(d.knob))
	t.Attempt("under policy require the agent does not run", required.Fate(ctx), kit.Be("exit code 125"))
	failure := firstError(required)
	t.Attempt("the stage that is told", failure.Stage, kit.Differ(""))
	t.Attempt("the errno that is told is "+strings.Join(d.errnos, " or "), slices.Contains(d.errnos, failure.Errno), kit.Be(true))
	t.Attempt("the causes that are told", strings.Join(failure.Causes, "\n"), kit.Contain(d.cause))
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())

	preferred := t.Start(ctx, subject.Spec{Policy: "prefer"}, kit.WithKnob(d.knob))
	t.Attempt("under policy prefer the agent runs", preferred.Fate(ctx), kit.Be("the agent runs"))
	told := preferred.Mode(ctx)
	t.Attempt("the level that is told", told.Level, kit.Be(d.level))
	t.Attempt("layers that are told as missing", missing(told), kit.Differ([]string{}))
	t.Attempt("the reason that is told", told.Reason, kit.Differ(free.Mode(ctx).Reason))
})

// firstError is the event of what stopped the start.
func firstError(phase *kit.Phase) subject.Event {
	for _, e := range phase.Events(subject.EventError) {
		return e
	}
	return subject.Event{}
}

func missing(mode subject.Event) []string {
	layers := []string{}
	for name, state := range mode.Layers {
		if state == "missing" {
			layers = append(layers, name)
		}
	}
	slices.Sort(layers)
	return layers
}
