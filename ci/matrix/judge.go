package matrix

import (
	"fmt"
	"path/filepath"
	"strings"

	"bridgecheck/suites/report"
)

// judge compares what the row's folder holds with what the row expects.
func judge(row Row, dir string) (report.Row, error) {
	result := report.Row{
		Name: row.Name, Why: row.Why, Image: row.Image, Arch: row.Arch,
		Versions:      map[string]string{"arapuca": row.Arapuca, "go-arapuca": row.GoArapuca},
		Informational: row.Informational, Expect: row.Expect,
	}
	link, err := report.ReadLink(dir)
	if err != nil {
		return result, err
	}
	if link == nil {
		return result, fmt.Errorf("row %s: there is no %s in %s; the run ended before it began", row.Name, report.LinkFile, dir)
	}
	if !link.OK() {
		result.Got, result.Because = DoesNotLink, link.Text()
		return finish(result), nil
	}
	result.Got = Green
	var because []string
	for _, subject := range Subjects {
		v, err := report.ReadYAML(filepath.Join(dir, subject, "verdict.yaml"))
		if err != nil {
			return result, err
		}
		got, text := resultOf(v)
		if text != "" {
			because = append(because, subject+": "+text)
		}
		// What a host could not give says less than what was found wrong.
		if got == Red || result.Got == Green {
			result.Got = got
		}
		if v.Exit == report.ExitHarness {
			return result, fmt.Errorf("row %s: %s: the verdict is invalid: %s", row.Name, subject, strings.Join(v.Problems, "; "))
		}
	}
	result.Because = strings.Join(because, "; ")
	return finish(result), nil
}

// finish says whether the row is red.
func finish(r report.Row) report.Row {
	r.Red = r.Got != r.Expect && !r.Informational
	if r.Got != r.Expect {
		r.Because = strings.TrimSuffix(fmt.Sprintf("%s, where %s is expected: %s", r.Got, r.Expect, r.Because), ": ")
	}
	return r
}

func resultOf(v report.Verdict) (result, because string) {
	var red []string
	for _, c := range v.Red() {
		red = append(red, c.ID)
	}
	switch v.Exit {
	case report.ExitConformant:
		return Green, ""
	case report.ExitHost:
		return Blocked, strings.Join(append(red, v.HostLacks...), ", ")
	}
	if len(red) == 0 {
		for _, p := range v.Profiles {
			red = append(red, p.Because...)
		}
	}
	return Red, strings.Join(red, ", ")
}

// State is what became of a row.
type State struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Red is nil when the row left no results.
	Red     *bool  `json:"red"`
	Because string `json:"because"`
}

// Status tells what became of each row, by the folders below dir.
func Status(rows []Row, dir string) ([]State, error) {
	states := make([]State, len(rows))
	for i, row := range rows {
		states[i] = State{Name: row.Name, Why: row.Why}
		result, err := report.ReadRow(filepath.Join(dir, row.Name))
		if err != nil {
			return nil, err
		}
		if result != nil {
			states[i].Red, states[i].Because = &result.Red, result.Because
		}
	}
	return states, nil
}
