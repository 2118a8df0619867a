package runner

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"bridgecheck/suites/report"
)

func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		ids  []string
		n    int
		want [][]string
	}{
		{[]string{"a", "b", "c"}, 2, [][]string{{"a", "c"}, {"b"}}},
		{[]string{"a"}, 4, [][]string{{"a"}}},
		{[]string{"a", "b"}, 0, [][]string{{"a", "b"}}},
		{[]string{"a.x", "a.y", "b", "a.z"}, 2, [][]string{{"a.x", "a.y", "a.z"}, {"b"}}},
		{[]string{"a.x", "a.y"}, 2, [][]string{{"a.x", "a.y"}}},
		{nil, 2, [][]string{nil}},
	} {
		if got := divide(tt.ids, tt.n); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("divide(%v, %d) = %v, wanted %v", tt.ids, tt.n, got, tt.want)
		}
	}
}

// TestReadFacts: a shard that left nothing, or half a file, counts as
// unfinished with all that it was to run.
func TestReadFacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cell-user")
	write := func(shard, text string) {
		if err := os.MkdirAll(filepath.Join(dir, shard), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, shard, "facts.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("shard-0", `{"finished": true, "selected": ["A"], "results": [{"id": "A", "evidence": ["evidence/x"]}]}`)
	write("shard-1", `{"finished": true, "selected": ["B"`)
	cell := report.Cell{Name: "user", Engine: "none"}
	facts := readFacts(dir, cell, [][]string{{"A"}, {"B"}, {"C"}})
	if !facts[0].Finished || facts[0].Results[0].Evidence[0] != "cell-user/shard-0/evidence/x" {
		t.Errorf("shard 0: %+v", facts[0])
	}
	for i, id := range map[int]string{1: "B", 2: "C"} {
		if f := facts[i]; f.Finished || !reflect.DeepEqual(f.Selected, []string{id}) || f.Cell.Name != "user" {
			t.Errorf("shard %d: %+v", i, f)
		}
	}
}
