package matrix_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ci"
	"bridgecheck/ci/matrix"
)

const row = `rows:
- name: a
  why: because
  arapuca: v0.2.8
  go-arapuca: v0.2.5
  image: debian:13
  arch: amd64
  expect: green
`

func TestParse(t *testing.T) {
	rows, err := matrix.Parse([]byte(row))
	if err != nil || len(rows) != 1 || rows[0].GoArapuca != "v0.2.5" {
		t.Fatalf("%+v, %v", rows, err)
	}
	second := strings.ReplaceAll(strings.TrimPrefix(row, "rows:\n"), "name: a", "name: b")
	for _, tt := range []struct{ name, from, to, want string }{
		{"an unknown key", "  arch: amd64", "  arch: amd64\n  colour: red", "[8:3] unknown field \"colour\""},
		{"a wrong type", "why: because", "why: [a]", "[3:"},
		{"a key twice", "  arch: amd64", "  arch: amd64\n  arch: arm64", "[8:3]"},
		{"no rows", row, "rows: []\n", "there is no row"},
		{"no YAML", row, "rows: [", "matrix:"},
		{"a name with a space", "name: a", "name: a b", "line 2: row \"a b\": a name has"},
		{"no why", "  why: because\n", "", "line 2: row \"a\": give why"},
		{"an image with a host", "debian:13", "images.test/debian:13", "line 6: row \"a\": image is"},
		{"an image without a tag", "debian:13", "debian", "line 6"},
		{"an architecture", "amd64", "riscv64", "line 7: row \"a\": arch is \"riscv64\"; it is one of amd64, arm64"},
		{"an expectation", "green", "fine", "line 8: row \"a\": expect is \"fine\""},
		{"a host", "  expect", "  host: [linux]\n  expect", "line 8: row \"a\": host has \"linux\""},
		{"a branch", "v0.2.8", "main", "line 4: row \"a\": main moves; pin"},
		{"a short commit", "v0.2.5", "abcdef1", "line 5: row \"a\": abcdef1 moves"},
		{"a folder", "v0.2.5", "./fork", "line 5: row \"a\""},
		{"a pull request", "v0.2.5", "pr:3", "line 5: row \"a\": pr:3 moves"},
		{"a name twice", row, row + strings.ReplaceAll(strings.ReplaceAll(second, "name: b", "name: a"), "debian", "ubuntu"), "line 9: row \"a\" is the same as the one in line 2 (name a)"},
		{"a run twice", row, row + second, "line 9: row \"b\" is the same as the one in line 2 (arapuca v0.2.8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(row, tt.from, tt.to, 1)
			if text == row {
				t.Fatal("the row of this table changes nothing")
			}
			if rows, err := matrix.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v; want %q", rows, err, tt.want)
			}
		})
	}
	informational := strings.Replace(row, "v0.2.8", "main", 1) + "  informational: true\n"
	if _, err := matrix.Parse([]byte(informational)); err != nil {
		t.Errorf("an informational row follows a branch: %v", err)
	}
}

// FuzzParse: whatever is read is pinned, complete and told apart.
func FuzzParse(f *testing.F) {
	f.Add([]byte(row))
	f.Add(ci.Matrix)
	f.Add([]byte("rows: [{name: a}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := matrix.Parse(data)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, r := range rows {
			if r.Why == "" || names[r.Name] || strings.ContainsAny(r.Image, "/ ") || strings.HasPrefix(r.Arapuca, "-") {
				t.Errorf("accepted: %+v", r)
			}
			names[r.Name] = true
		}
	})
}

// TestShippedMatrix: what the file has to hold for the questions it is there for.
func TestShippedMatrix(t *testing.T) {
	rows, err := matrix.Parse(ci.Matrix)
	if err != nil {
		t.Fatal(err)
	}
	some := func(what string, is func(matrix.Row) bool) {
		if !slices.ContainsFunc(rows, is) {
			t.Errorf("no row %s", what)
		}
	}
	for _, image := range []string{"debian", "fedora", "ubuntu"} {
		some("on "+image, func(r matrix.Row) bool { return strings.HasPrefix(r.Image, image+":") })
	}
	for _, arch := range []string{"amd64", "arm64"} {
		some("on "+arch, func(r matrix.Row) bool { return r.Arch == arch })
	}
	some("on Fedora with SELinux", func(r matrix.Row) bool {
		return strings.HasPrefix(r.Image, "fedora") && slices.Contains(r.Host, matrix.SELinux)
	})
	some("that leaves the restriction on", func(r matrix.Row) bool {
		return slices.Contains(r.Host, matrix.UsernsRestricted) && r.Expect == matrix.Blocked
	})
	moving := slices.DeleteFunc(slices.Clone(rows), func(r matrix.Row) bool { return !r.Informational })
	if len(moving) != 1 {
		t.Errorf("%d informational rows, want the tip alone", len(moving))
	}
	if _, err := os.Stat("../matrix.yaml"); err != nil {
		t.Error(err)
	}
}
