package main

import (
	"encoding/json"
	"strings"
	"testing"

	"bridgecheck/ci"
	"bridgecheck/ci/matrix"
)

// TestJobs: an index is the row's own, whatever is left out, and a workflow finds
// every field it reads.
func TestJobs(t *testing.T) {
	rows, err := matrix.Parse(ci.Matrix)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, r := range rows {
		for _, h := range r.Host {
			if h == matrix.SELinux {
				left++
			}
		}
	}
	for without, want := range map[string]int{"": len(rows), matrix.SELinux: len(rows) - left} {
		data, err := json.Marshal(jobs(rows, without))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Include []map[string]any }
		if err := json.Unmarshal(data, &got); err != nil || len(got.Include) != want {
			t.Fatalf("without %q: %d jobs, %v; want %d", without, len(got.Include), err, want)
		}
		for _, j := range got.Include {
			for _, field := range []string{"index", "name", "arch", "selinux", "restricted"} {
				if _, ok := j[field]; !ok {
					t.Errorf("a job has no %s: %v", field, j)
				}
			}
			if row := rows[int(j["index"].(float64))]; row.Name != j["name"] {
				t.Errorf("index %v is %s, and the job is %s", j["index"], row.Name, j["name"])
			}
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-row", "99", "-engine", "sh"}, 2, "there is no row 99; rows are 0 to"},
		{[]string{"-row", "-1", "-engine", "sh"}, 2, "there is no row -1"},
		{[]string{"-row", "nobody", "-engine", "sh"}, 2, "there is no row nobody"},
		{[]string{"-row", "0", "-engine", "no-engine"}, 3, "no-engine is missing: install Docker or podman"},
		{[]string{"-build-arg", "RUST"}, 2, "write NAME=VALUE"},
	} {
		if code, err := run(t.Context(), tt.args); code != tt.code || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %d, %v; want %d, %q", tt.args, code, err, tt.code, tt.want)
		}
	}
}
