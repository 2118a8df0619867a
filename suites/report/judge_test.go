package report_test

import (
	"slices"
	"strings"
	"testing"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/report"
	"bridgecheck/suites/subject"
)

type want struct {
	id      string
	outcome report.Outcome
	red     bool
	profile report.Standing
	result  report.Standing
	exit    int
	says    string // in the reason of the case
}

func TestOutcomes(t *testing.T) {
	noControl, noAttempt, broken := passed("ALW-002", ""), passed("ALW-002", ""), passed("ALW-002", "")
	noControl.Steps = []report.Step{attempt, far}
	noAttempt.Steps = []report.Step{control}
	broken.Steps = []report.Step{control, wrong}
	badControl := passed("ALW-002", "")
	badControl.Steps = []report.Step{{Kind: "control", What: "CONNECT", Got: "502"}, attempt}
	strict := func(o *report.Options) { o.Strict = true }
	base := func(id string) func(*report.Options) {
		return func(o *report.Options) {
			o.Baseline = []report.Expected{{ID: id, Reason: "known", Link: "https://example.test/1"}}
		}
	}
	foreign := func(o *report.Options) { o.SubjectIsOurs = false }
	moot := func(id string) func(*report.Options) {
		return func(o *report.Options) { o.Moot = map[string][]string{"user": {id}} }
	}
	const (
		conf, part, non, inv = report.Conformant, report.Partial, report.NonConformant, report.InvalidRun
	)
	for name, tc := range map[string]struct {
		results []report.Result
		opts    []func(*report.Options)
		want    want
	}{
		"green":                    {green(), nil, want{"ALW-002", report.Pass, false, conf, conf, 0, ""}},
		"one failure":              {with(failed("ALW-002", "")), nil, want{"ALW-002", report.Fail, true, non, non, 1, "because"}},
		"one row of two fails":     {with(failed("ALW-012", "cgnat")), nil, want{"ALW-012", report.Fail, true, non, non, 1, "because"}},
		"n/a is neutral":           {with(in(report.NotApplicable, "ALW-002", "")), nil, want{"ALW-002", report.NA, false, conf, conf, 0, "because"}},
		"a row n/a, a row passed":  {with(in(report.NotApplicable, "ALW-012", "cgnat")), nil, want{"ALW-012", report.Pass, false, conf, conf, 0, ""}},
		"blocked locally":          {with(in(report.Blocked, "ALW-002", "")), nil, want{"ALW-002", report.BlockedHost, false, part, part, 0, "because"}},
		"blocked when strict":      {with(in(report.Blocked, "ALW-002", "")), []func(*report.Options){strict}, want{"ALW-002", report.BlockedHost, true, non, non, 3, "because"}},
		"moot and not listed":      {with(in(report.Moot, "ALW-012", "cgnat")), nil, want{"ALW-012", report.MootDoor, true, non, non, 3, "does not list"}},
		"moot, the row listed":     {with(in(report.Moot, "ALW-012", "cgnat")), []func(*report.Options){moot("ALW-012.cgnat")}, want{"ALW-012", report.Pass, false, conf, conf, 0, ""}},
		"moot, another listed":     {with(in(report.Moot, "ALW-012", "cgnat")), []func(*report.Options){moot("ALW-012.loopback")}, want{"ALW-012", report.MootDoor, true, non, non, 3, "does not list"}},
		"moot, the check listed":   {with(in(report.Moot, "ALW-002", "")), []func(*report.Options){moot("ALW-002")}, want{"ALW-002", report.MootDoor, false, conf, conf, 0, "because"}},
		"error":                    {with(in(report.Errored, "ALW-002", "")), nil, want{"ALW-002", report.Error, true, inv, inv, 4, "because"}},
		"error beside a failure":   {with(in(report.Errored, "ALW-002", ""), failed("ALW-001", "")), nil, want{"ALW-001", report.Fail, true, inv, inv, 4, "because"}},
		"unknown state":            {with(in("skipped", "ALW-002", "")), nil, want{"ALW-002", report.Error, true, inv, inv, 4, "unknown"}},
		"no positive control":      {with(noControl), nil, want{"ALW-002", report.Error, true, inv, inv, 4, "no positive control"}},
		"the control did not hold": {with(badControl), nil, want{"ALW-002", report.Error, true, inv, inv, 4, "did not hold"}},
		"no attempt":               {with(noAttempt), nil, want{"ALW-002", report.Error, true, inv, inv, 4, "no attempt"}},
		"passed with a bad step":   {with(broken), nil, want{"ALW-002", report.Error, true, inv, inv, 4, "did not hold"}},
		"expected failure":         {with(failed("ALW-002", "")), []func(*report.Options){base("ALW-002")}, want{"ALW-002", report.ExpectedFail, false, part, part, 0, "because"}},
		"expected failing row":     {with(failed("ALW-012", "cgnat")), []func(*report.Options){base("ALW-012.cgnat")}, want{"ALW-012", report.ExpectedFail, false, part, part, 0, "because"}},
		"another row expected":     {with(failed("ALW-012", "cgnat")), []func(*report.Options){base("ALW-012.loopback")}, want{"ALW-012", report.Fail, true, non, non, 1, "because"}},
		"an error is not expected": {with(in(report.Errored, "ALW-002", "")), []func(*report.Options){base("ALW-002")}, want{"ALW-002", report.Error, true, inv, inv, 4, "because"}},
		"stale entry":              {green(), []func(*report.Options){base("ALW-002")}, want{"ALW-002", report.Stale, true, non, non, 1, "remove it"}},
		"stale row":                {green(), []func(*report.Options){base("ALW-012.cgnat")}, want{"ALW-012", report.Stale, true, non, non, 1, "remove it"}},
		"a part is not stale": {green(), []func(*report.Options){base("ALW-012"), func(o *report.Options) {
			o.Selection = slices.Clone(o.Selection)
			o.Selection[slices.Index(o.Selection, "ALW-012")] = "ALW-012.cgnat"
		}}, want{"ALW-012", report.Pass, false, conf, conf, 0, ""}},
		"an entry for n/a stays": {with(in(report.NotApplicable, "ALW-002", "")), []func(*report.Options){base("ALW-002")}, want{"ALW-002", report.NA, false, conf, conf, 0, ""}},
		"mended in a gate":       {green(), []func(*report.Options){base("ALW-002"), func(o *report.Options) { o.Gate = true }}, want{"ALW-002", report.Mended, false, conf, conf, 0, "passes"}},
		"house rule, ours":       {with(failed("LIF-014", "")), nil, want{"LIF-014", report.Fail, true, conf, non, 1, "because"}},
		"house rule, another's":  {with(failed("LIF-014", "")), []func(*report.Options){foreign}, want{"LIF-014", report.Fail, false, conf, conf, 0, "level H"}},
		"security, another's":    {with(failed("ALW-002", "")), []func(*report.Options){foreign}, want{"ALW-002", report.Fail, true, non, non, 1, "because"}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := options()
			for _, o := range tc.opts {
				o(&opts)
			}
			v := report.Judge([]report.Facts{shard("user", tc.results...)}, opts)
			c, ok := v.Case(tc.want.id)
			if !ok || c.Outcome != tc.want.outcome || c.Red != tc.want.red {
				t.Errorf("%s is %q red=%v (%s), want %q red=%v", tc.want.id, c.Outcome, c.Red, c.Reason, tc.want.outcome, tc.want.red)
			}
			if !strings.Contains(c.Reason, tc.want.says) {
				t.Errorf("reason is %q, want it to say %q", c.Reason, tc.want.says)
			}
			if v.Profiles[0].Result != tc.want.profile || v.Result != tc.want.result || v.Exit != tc.want.exit {
				t.Errorf("profile %s, run %s, exit %d (%v); want %s, %s, %d", v.Profiles[0].Result, v.Result, v.Exit,
					v.Problems, tc.want.profile, tc.want.result, tc.want.exit)
			}
		})
	}
}

// TestInvalid: a run that shows nothing is never green, however its results read.
func TestInvalid(t *testing.T) {
	unfinished := shard("user", green()...)
	unfinished.Finished = false
	lost := shard("user", green()...)
	lost.Results = lost.Results[1:]
	lostRow := shard("user", green()...)
	lostRow.Results = slices.Delete(lostRow.Results, 3, 4)
	rowless := shard("user", append(with()[:2], passed("ALW-012", ""), passed("LIF-014", ""))...)
	notGiven := shard("user", green()[1:]...)
	other := shard("root", green()...)
	other.Subject.Name = "something-else"
	otherVersion := shard("root", green()...)
	otherVersion.Subject.Versions = map[string]string{"refbridge": "v0.2"}
	otherClaims := shard("root", green()...)
	otherClaims.Subject.Capabilities = otherClaims.Subject.Capabilities[1:]
	stray := shard("user", green()...)
	stray.Results = append(stray.Results, passed("ALW-099", ""))
	smuggled := shard("user", green()...)
	smuggled.Selected = smuggled.Selected[1:]
	var skipped []report.Result
	for _, r := range green() {
		skipped = append(skipped, in(report.NotApplicable, r.ID, r.Row))
	}
	ok := shard("user", green()...)
	for name, tc := range map[string]struct {
		facts []report.Facts
		opt   func(*report.Options)
		says  string
	}{
		"no facts":            {nil, nil, "no facts"},
		"unfinished":          {[]report.Facts{unfinished}, nil, "did not come to its end"},
		"empty facts":         {[]report.Facts{{}}, nil, "did not come to its end"},
		"result lost":         {[]report.Facts{lost}, nil, "ALW-001 was to run and left no result"},
		"row lost":            {[]report.Facts{lostRow}, nil, "ALW-012.cgnat was to run"},
		"passed without rows": {[]report.Facts{rowless}, nil, "ALW-012.loopback, ALW-012.cgnat"},
		"given to no shard":   {[]report.Facts{notGiven}, nil, "ALW-001 was selected and given to no cell"},
		"empty selection":     {[]report.Facts{ok}, func(o *report.Options) { o.Selection = nil }, "nothing was selected"},
		"unknown selection":   {[]report.Facts{ok}, func(o *report.Options) { o.Selection = append(o.Selection, "ALW-777") }, "no check ALW-777"},
		"all skipped":         {[]report.Facts{shard("user", skipped...)}, nil, "nothing ran"},
		"cell missing":        {[]report.Facts{ok}, func(o *report.Options) { o.Cells = []string{"user", "root"} }, "cell root"},
		"two subjects":        {[]report.Facts{ok, other}, nil, "something-else"},
		"two versions":        {[]report.Facts{ok, otherVersion}, nil, "other versions"},
		"other claims":        {[]report.Facts{ok, otherClaims}, nil, "or claims"},
		"stray result":        {[]report.Facts{stray}, nil, "ALW-099"},
		"unselected result":   {[]report.Facts{smuggled}, nil, "not selected there"},
		"crash told":          {[]report.Facts{ok}, func(o *report.Options) { o.Problems = []string{"shard 2: signal: killed"} }, "signal: killed"},
		"frozen id not there": {[]report.Facts{ok}, func(o *report.Options) { o.Profiles[0].Required = []string{"ALW-001", "ALW-500"} }, "requires ALW-500"},
		"baseline of nothing": {[]report.Facts{ok}, func(o *report.Options) { o.Baseline = []report.Expected{{ID: "ALW-500"}} }, "no check ALW-500"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := options()
			if tc.opt != nil {
				tc.opt(&opts)
			}
			v := report.Judge(tc.facts, opts)
			if v.Result != report.InvalidRun || v.Exit != report.ExitHarness {
				t.Errorf("result %s, exit %d; want invalid, 4", v.Result, v.Exit)
			}
			if !strings.Contains(strings.Join(v.Problems, "\n"), tc.says) {
				t.Errorf("problems %q, want one to say %q", v.Problems, tc.says)
			}
			for _, p := range v.Profiles {
				if p.Result != report.InvalidRun {
					t.Errorf("profile %s is %s in an invalid run", p.Name, p.Result)
				}
			}
		})
	}
}

// TestRowsRan: a check one row of which this host blocks has shown something.
func TestRowsRan(t *testing.T) {
	rows := []report.Result{passed("ALW-012", "loopback"), in(report.Blocked, "ALW-012", "cgnat")}
	opts := options()
	opts.Selection, opts.Profiles = []string{"ALW-012"}, nil
	if v := report.Judge([]report.Facts{shard("user", rows...)}, opts); v.Result != report.Partial {
		t.Errorf("%s: %q", v.Result, v.Problems)
	}
}

// TestFrozenNotSelected: a profile whose ids were not all chosen cannot be judged.
func TestFrozenNotSelected(t *testing.T) {
	opts := options()
	opts.Selection = opts.Selection[1:]
	v := report.Judge([]report.Facts{shard("user", green()[1:]...)}, opts)
	if v.Profiles[0].Result != report.InvalidRun || v.Exit != report.ExitHarness {
		t.Errorf("profile %s, exit %d; want invalid, 4", v.Profiles[0].Result, v.Exit)
	}
	opts.Profiles = nil
	v = report.Judge([]report.Facts{shard("user", green()[1:]...)}, opts)
	if v.Result != report.Partial || v.Exit != 0 {
		t.Errorf("a run of chosen checks is %s, exit %d; want partial, 0", v.Result, v.Exit)
	}
	if c, _ := v.Case("ALW-001"); c.Outcome != report.NotSelected {
		t.Errorf("ALW-001 is %s, want not-selected", c.Outcome)
	}
}

// TestSelectedRow: choosing one row does not demand the others.
func TestSelectedRow(t *testing.T) {
	opts := options()
	opts.Profiles, opts.Selection = nil, []string{"ALW-012.cgnat"}
	v := report.Judge([]report.Facts{shard("user", passed("ALW-012", "cgnat"))}, opts)
	if c, _ := v.Case("ALW-012"); c.Outcome != report.Pass || v.Exit != 0 {
		t.Errorf("ALW-012 is %s, exit %d %v; want pass, 0", c.Outcome, v.Exit, v.Problems)
	}
}

func TestUnclaimedCore(t *testing.T) {
	opts := options()
	opts.Profiles[0].Core = []subject.Capability{subject.Connect, subject.NetNS}
	v := report.Judge([]report.Facts{shard("user", green()...)}, opts)
	p := v.Profiles[0]
	if p.Result != report.Partial || v.Exit != report.ExitNot || !slices.Equal(p.Unclaimed, []subject.Capability{subject.NetNS}) {
		t.Errorf("profile %s, unclaimed %v, exit %d; want partial, [netns], 1", p.Result, p.Unclaimed, v.Exit)
	}
}

// TestCells: the worst cell decides, and each cell keeps its own result.
func TestCells(t *testing.T) {
	v := report.Judge([]report.Facts{
		shard("user", green()...), shard("root", with(failed("ALW-001", ""))...),
	}, options())
	c, _ := v.Case("ALW-001")
	if c.Outcome != report.Fail || len(c.Results) != 2 || c.Results[0].Outcome != report.Pass || c.Results[1].Cell != "root" {
		t.Errorf("ALW-001 is %s with %+v", c.Outcome, c.Results)
	}
	if len(v.Cells) != 2 {
		t.Errorf("%d cells, want 2", len(v.Cells))
	}
}

// TestCellByDesign: what only root can do is not blocked for the ordinary user's
// cell while a cell of root does it; a fact of the kernel is.
func TestCellByDesign(t *testing.T) {
	for name, tc := range map[string]struct {
		needs   catalog.HostFact
		root    bool // a cell of root ran too
		outcome report.Outcome
		exit    int
	}{
		"root, in the other cell":   {catalog.HostTwoUIDs, true, report.Pass, 0},
		"root, nowhere":             {catalog.HostTwoUIDs, false, report.BlockedHost, 3},
		"a fact, in the other cell": {catalog.HostLandlock, true, report.BlockedHost, 3},
	} {
		opts := options()
		opts.Strict = true
		opts.Registered[1].Host = []catalog.HostFact{tc.needs}
		blocked := in(report.Blocked, "ALW-002", "")
		blocked.Lacks = tc.needs
		facts := []report.Facts{shard("user", with(blocked)...)}
		if tc.root {
			root := shard("root", green()...)
			root.Cell.Host = map[catalog.HostFact]string{tc.needs: "yes"}
			facts = append(facts, root)
		}
		v := report.Judge(facts, opts)
		if c, _ := v.Case("ALW-002"); c.Outcome != tc.outcome || v.Exit != tc.exit {
			t.Errorf("%s: %s, exit %d; want %s, %d", name, c.Outcome, v.Exit, tc.outcome, tc.exit)
		}
	}
}

func TestHostLacks(t *testing.T) {
	opts := options()
	opts.HostLacks = []string{"no container engine answers"}
	v := report.Judge([]report.Facts{shard("user", green()...)}, opts)
	if v.Result != report.Partial || v.Exit != 0 {
		t.Errorf("locally %s, exit %d; want partial, 0", v.Result, v.Exit)
	}
	opts.Strict = true
	v = report.Judge([]report.Facts{shard("user", green()...)}, opts)
	if v.Result != report.NonConformant || v.Exit != report.ExitHost {
		t.Errorf("strict %s, exit %d; want non-conformant, 3", v.Result, v.Exit)
	}
}
