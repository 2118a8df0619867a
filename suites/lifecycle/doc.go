// Package lifecycle holds the checks of section 6 of the contract: when
// servers, agent and subject begin and end, and what is left.
package lifecycle

import (
	"strings"

	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// withMark are the processes of the lab, the harness's own left out, that carry
// the mark in their arguments.
func withMark(t *kit.T, mark string) []string {
	marked := []string{}
	for _, p := range t.Strays() {
		if strings.Contains(p, mark) {
			marked = append(marked, p)
		}
	}
	return marked
}

// requests are the requests that a server has announced.
func requests(announced []string) []string {
	asked := []string{}
	for _, line := range announced {
		if method, ok := strings.CutPrefix(line, "request "); ok {
			asked = append(asked, method)
		}
	}
	return asked
}

// count is how many lines begin with the words.
func count(lines []string, words string) int {
	n := 0
	for _, line := range lines {
		if strings.HasPrefix(line, words) {
			n++
		}
	}
	return n
}

// of is the first event that is about the server, the zero event when none is.
func of(events []subject.Event, server string) subject.Event {
	for _, e := range events {
		if e.Server == server {
			return e
		}
	}
	return subject.Event{}
}
