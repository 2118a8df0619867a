package mcp

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzFilter: whatever comes, the filter's own answers are lines of JSON.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `{"id":"x","method":"fake/raw","params":[1e999]}`,
		`{"id":null,"method":"ping"}`, `[{"id":1,"method":"initialize"}]`, `{"id":{"a":1},"method":"initialize"}`, "\x00", "{",
	} {
		f.Add([]byte(seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, era := range []string{EraLegacy, EraModern} {
			var out bytes.Buffer
			// No more than one answer is wanted of a hanging server.
			one := &filter{options: Options{Era: era, Discover: DiscoverAnswer, HangAfter: 1}, answer: &out, scripts: newScripts(), announce: func(string, ...any) {}}
			one.passes(line)
			one.passes(line)
			answers := bytes.SplitAfter(out.Bytes(), []byte("\n"))
			if len(answers) > 2 {
				t.Errorf("%q: answered %q", line, out.Bytes())
			}
			for _, answer := range answers {
				if len(answer) > 0 && !json.Valid(answer) {
					t.Errorf("%q: answered %q", line, answer)
				}
			}
		}
	})
}
