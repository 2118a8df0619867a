package report

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// The JUnit form that continuous-integration servers agree on: suites, cases,
// and one of failure, error or skipped in each. There is no schema of record.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	File    string     `xml:"file,attr,omitempty"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Skipped *junitText `xml:"skipped"`
}

type junitText struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes junit.xml: a suite for each cell, a case for each check or
// row, and a suite "harness" for what makes the run invalid.
func WriteJUnit(path string, v Verdict) error {
	data, err := xml.MarshalIndent(junitOf(v), "", "  ")
	if err != nil {
		return fmt.Errorf("encode junit: %w", err)
	}
	data = append([]byte(xml.Header), append(data, '\n')...)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return nil
}

func junitOf(v Verdict) junitSuites {
	all := junitSuites{Name: "bridgecheck " + v.Subject.Title()}
	for _, cell := range v.Cells {
		all.add(junitCell(v, cell.Name))
	}
	if s := junitCell(v, wholeRun); len(s.Cases) > 0 {
		all.add(s)
	}
	if s := junitRun(v); len(s.Cases) > 0 {
		all.add(s)
	}
	return all
}

func junitCell(v Verdict, cell string) junitSuite {
	s, ms := junitSuite{Name: cell}, 0.0
	for _, c := range v.Cases {
		for _, r := range c.Results {
			if r.Cell != cell {
				continue
			}
			ms += r.TookMS
			s.Cases = append(s.Cases, junitRow(c, r))
		}
	}
	s.Time = seconds(ms)
	return s
}

func junitRow(c CaseVerdict, r RowVerdict) junitCase {
	file, _, _ := strings.Cut(r.At, ":")
	jc := junitCase{Class: areaOf(c.ID), Name: rowID(c, r) + " " + c.Title, File: file, Time: seconds(r.TookMS)}
	text := &junitText{Type: string(r.Outcome), Message: r.Reason, Text: "\n" + strings.Join(blockRow(r), "\n") + "\n"}
	switch {
	case r.Outcome == Pass:
	case !r.Red:
		jc.Skipped = &junitText{Message: string(r.Outcome) + ": " + r.Reason}
	case r.Outcome == Fail:
		jc.Failure = text
	default:
		jc.Error = text
	}
	return jc
}

// junitRun holds what no single result shows: problems, stale baseline entries,
// and profiles that cannot be conformant.
func junitRun(v Verdict) junitSuite {
	s := junitSuite{Name: "harness", Time: seconds(0)}
	add := func(class, name string, c junitCase) {
		c.Class, c.Name, c.Time = class, name, seconds(0)
		s.Cases = append(s.Cases, c)
	}
	for _, p := range v.Problems {
		add("run", p, junitCase{Error: &junitText{Type: "invalid", Message: p}})
	}
	for _, h := range v.HostLacks {
		t := &junitText{Type: "blocked", Message: h}
		if v.Strict {
			add("host", h, junitCase{Error: t})
		} else {
			add("host", h, junitCase{Skipped: t})
		}
	}
	for _, c := range v.Cases {
		if c.Outcome == Stale {
			add("baseline", c.ID, junitCase{Failure: &junitText{Type: "stale", Message: c.Reason}})
		}
	}
	for _, p := range v.Profiles {
		if len(p.Unclaimed) > 0 {
			add("profile", p.Name, junitCase{Failure: &junitText{
				Type: string(p.Result), Message: strings.Join(p.Because, "; "),
			}})
		}
	}
	return s
}

func (all *junitSuites) add(s junitSuite) {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Errors += s.Errors
	all.Skipped += s.Skipped
	all.Suites = append(all.Suites, s)
}

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }

func areaOf(id string) string { area, _, _ := strings.Cut(id, "-"); return area }

func rowID(c CaseVerdict, r RowVerdict) string {
	if r.Row == "" {
		return c.ID
	}
	return c.ID + "." + r.Row
}
