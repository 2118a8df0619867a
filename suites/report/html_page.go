package report

import (
	"html/template"
	"slices"

	"bridgecheck/suites/catalog"
)

// page is what the templates see.
type page struct {
	V           Verdict
	Policy      string
	Style       template.CSS
	Script      template.JS
	Sentence    string
	Notes       []string
	Outcomes    []Outcome // those that occur
	Red         []caseView
	Areas       []areaView
	NotSelected []CaseVerdict
	Kills       []KillRow
	KillsSay    string
	Claims      []claimView
	Legend      []legendView
}

type areaView struct {
	ID, Title string
	Cases     []caseView // those that are not red: each check stands once
}

type caseView struct {
	C           CaseVerdict
	Area, Level string
	// Rows are all of them, or of a red check those that are red; Held are the
	// others then.
	Rows, Held []rowView
	// Got is what was seen instead, in a line, of a red check.
	Got string
	// ShowReason is false where a result below says the same.
	ShowReason bool
}

// rowView is one row of a check with its cells side by side.
type rowView struct {
	ID      string // empty where the check has no rows
	Results []resultView
}

type resultView struct {
	R     RowVerdict
	Files []fileView
}

// Reason is empty where a step that broke says the same.
func (r resultView) Reason() string {
	if slices.ContainsFunc(r.R.Steps, func(s Step) bool { return !s.OK }) {
		return ""
	}
	return r.R.Reason
}

type claimView struct {
	Name      string
	Exercised bool
}

type legendView struct{ Name, Class, Text string }

func newPage(v Verdict, o HTMLOptions) page {
	p := page{V: v, Sentence: sentence(v), Notes: notes(v), Kills: o.Kills, KillsSay: o.KillsSay, Legend: legend}
	inline := &inliner{fsys: o.Evidence}
	for _, c := range v.Cases {
		if c.Outcome == NotSelected {
			p.NotSelected = append(p.NotSelected, c)
			continue
		}
		cv := caseView{C: c, Area: areaOf(c.ID), Level: levels[c.Level], Rows: rowViews(c, inline)}
		cv.ShowReason = c.Reason != "" && !slices.ContainsFunc(c.Results, func(r RowVerdict) bool { return r.Reason == c.Reason })
		i := slices.IndexFunc(p.Areas, func(a areaView) bool { return a.ID == cv.Area })
		if i < 0 {
			i = len(p.Areas)
			p.Areas = append(p.Areas, areaView{ID: cv.Area, Title: catalog.AreaTitle(cv.Area)})
		}
		if c.Red {
			cv.Rows, cv.Held = redFirst(cv.Rows)
			cv.Got = clip(gotLine(c))
			p.Red = append(p.Red, cv)
		} else {
			p.Areas[i].Cases = append(p.Areas[i].Cases, cv)
		}
	}
	for _, o := range Outcomes() {
		if v.Counts[o] > 0 && o != NotSelected {
			p.Outcomes = append(p.Outcomes, o)
		}
	}
	for _, c := range v.Claims.Declared {
		p.Claims = append(p.Claims, claimView{string(c), slices.Contains(v.Claims.Exercised, c)})
	}
	return p
}

// redFirst takes the rows apart that are red in some cell: the others would bury
// them. Where none is, as in a stale check, all stay.
func redFirst(rows []rowView) (red, held []rowView) {
	for _, r := range rows {
		if slices.ContainsFunc(r.Results, func(v resultView) bool { return v.R.Red }) {
			red = append(red, r)
		} else {
			held = append(held, r)
		}
	}
	if len(red) == 0 {
		return rows, nil
	}
	return red, held
}

// clip keeps a line that is read at a glance.
func clip(line string) string {
	const most = 240
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + " …"
	}
	return line
}

func rowViews(c CaseVerdict, inline *inliner) []rowView {
	var rows []rowView
	for _, r := range c.Results {
		id := ""
		if r.Row != "" {
			id = rowID(c, r)
		}
		i := slices.IndexFunc(rows, func(v rowView) bool { return v.ID == id })
		if i < 0 {
			i = len(rows)
			rows = append(rows, rowView{ID: id})
		}
		rows[i].Results = append(rows[i].Results, resultView{r, inline.files(r.Evidence)})
	}
	return rows
}

// sentence says what the result means, in the words of a reader who has never
// seen this report.
func sentence(v Verdict) string {
	if v.Subject.Double {
		return "Something stands in for what this subject is called by, so nothing here is a verdict on that. " + conclusion(v)
	}
	return conclusion(v)
}

func conclusion(v Verdict) string {
	switch {
	case v.Result == InvalidRun:
		return "Nothing can be concluded: the harness is at fault, or a part of the checks left no result."
	case v.Result == NonConformant && v.Exit == ExitHost:
		return "This host cannot give what the checks need; nothing else is red."
	case v.Result == NonConformant:
		return "At least one check that gates has found the subject wrong. The red checks stand first, open."
	case v.Exit == ExitNot:
		return "Nothing that was checked is wrong, but the subject does not claim a capability that a profile is about."
	case v.Result == Partial:
		return "Nothing that was checked is wrong, but not everything could be, or was to be, checked."
	}
	return "Every required check of every profile holds."
}

var levels = map[catalog.Level]string{
	catalog.Security: "security", catalog.Interoperability: "interoperability", catalog.House: "house rule",
}

var legend = []legendView{
	{"pass", "pass", "The check ran, with its positive control, and held."},
	{"fail", "red", "Claimed, ran, wrong. A house rule does not gate a subject that is not ours."},
	{"error", "red", "A fixture, the probe or the harness is at fault; nothing is said about the subject."},
	{"invalid", "red", "Selected, and left no result."},
	{"blocked", "blocked", "Claimed, but this host cannot; found by doing. Red in a strict run."},
	{"expected-fail", "expected-fail", "Fails, and is listed in the baseline with a reason."},
	{"stale", "stale", "Listed in the baseline, yet passes: the entry has to go."},
	{"mended", "mended", "Listed in the baseline, and passes in a gate."},
	{"moot", "moot", "The door does not exist on this host: its control failed outside the sandbox too."},
	{"n/a", "na", "The subject does not claim the capability."},
}
