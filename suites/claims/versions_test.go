package claims

import (
	"runtime/debug"
	"slices"
	"testing"
)

func TestLinkedVersion(t *testing.T) {
	linked := &debug.BuildInfo{GoVersion: "go1.26.1", Deps: []*debug.Module{
		{Path: "example.test/box/v2", Version: "v2.1.0"},
		{Path: "example.test/forked", Version: "v1.0.0", Replace: &debug.Module{Path: "example.test/fork", Version: "v1.0.1"}},
		{Path: "example.test/beside", Version: "v1.0.0", Replace: &debug.Module{Path: "../beside"}},
	}}
	for name, want := range map[string]string{
		"go": "go1.26.1", "box": "v2.1.0", "example.test/box/v2": "v2.1.0", "forked": "v1.0.1", "beside": "", "v2": "", "nobody": "",
	} {
		if got, known := linkedVersion(linked, name); got != want || known != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, known, want)
		}
	}
	if _, known := linkedVersion(nil, "go"); known {
		t.Error("a program without a record has a version")
	}
}

func TestContains(t *testing.T) {
	for _, tt := range []struct {
		line, version string
		want          bool
	}{
		{"bubblewrap 0.8.0", "0.8.0", true},
		{"bubblewrap 0.8.0", "v0.8.0", true},
		{"v22.1.0", "22.1.0", true},
		{"bubblewrap 0.8.0", "0.8", false},
		{"bubblewrap 10.8.0", "0.8.0", false},
		{"bubblewrap 0.8.0-rc", "0.8.0", false},
		{"bubblewrap 0.8.0", "", false},
	} {
		if got := contains(tt.line, tt.version); got != tt.want {
			t.Errorf("%q in %q: %v", tt.version, tt.line, got)
		}
	}
}

// TestCompare: a told version is the same, or differs, or cannot be looked up.
func TestCompare(t *testing.T) {
	linked := &debug.BuildInfo{GoVersion: "go1.26.1", Deps: []*debug.Module{{Path: "example.test/box", Version: "v2.1.0"}}}
	found := compare(t.Context(), map[string]string{"go": "go1.26.1", "box": "2.0.0", "nobody-s-program": "1"}, linked)
	if !slices.Equal(found.same, []string{"go"}) || !slices.Equal(found.differ, []string{"box is told as 2.0.0 and is v2.1.0"}) {
		t.Errorf("%+v", found)
	}
}
