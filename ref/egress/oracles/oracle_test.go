package oracles

import (
	"cmp"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// TestOracles compares our proxy with each of the others.
func TestOracles(t *testing.T) {
	vectors, err := allVectors()
	if err != nil {
		t.Fatal(err)
	}
	versions, results := map[string]string{}, map[string]chan result{}
	missing := map[string]error{}
	var labs sync.WaitGroup
	for name, s := range subjects {
		if versions[name], missing[name] = s.version(); missing[name] != nil {
			continue
		}
		done, dirs := make(chan result, 1), fresh(t)
		results[name] = done
		labs.Go(func() { done <- inLabs(t.Context(), name, dirs) })
	}
	t.Cleanup(labs.Wait) // before the folders are removed
	ours := check(t, <-results["ours"], len(vectors))
	for i, v := range vectors {
		if o := ours[i]; v.why == "" && o.Message == "" && len(o.Dialled) == 0 {
			t.Errorf("%s: we answer %s: nothing here says why", v.name, o)
		}
	}
	compare(t, "ours", "", listed(vectors, ours))
	for _, name := range []string{"goproxy", "smokescreen", "tinyproxy", "squid"} {
		t.Run(name, func(t *testing.T) {
			if missing[name] != nil {
				t.Skipf("%s is not installed: %v", name, missing[name])
			}
			theirs := check(t, <-results[name], len(vectors))
			text := disagreements(vectors, ours, theirs)
			if !*update && !same(name, versions[name], text) {
				// On a busy machine another proxy loses a race of its own: only a
				// difference that stays says something.
				theirs = check(t, inLabs(t.Context(), name, fresh(t)), len(vectors))
				text = disagreements(vectors, ours, theirs)
			}
			compare(t, name, versions[name], text)
		})
	}
}

// fresh is a folder for each lab of a proxy.
func fresh(t *testing.T) []string {
	dirs := make([]string, shards)
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	return dirs
}

func check(t *testing.T, r result, vectors int) []outcome {
	t.Helper()
	switch {
	case r.Unable != "":
		t.Skip(r.Unable)
	case r.Broken != "":
		t.Fatal(r.Broken)
	case len(r.Outcomes) != vectors:
		t.Fatalf("%d outcomes of %d vectors", len(r.Outcomes), vectors)
	}
	return r.Outcomes
}

func file(name string) string { return filepath.Join("testdata", name+".txt") }

// titled is what the file of a proxy holds.
func titled(name, version, text string) (head, all string) {
	head = strings.TrimSpace(name + " " + version)
	return head, head + "\n\n" + text
}

func same(name, version, text string) bool {
	want, err := os.ReadFile(file(name))
	_, all := titled(name, version, text)
	return err == nil && string(want) == all
}

// compare holds text against the file of a proxy. Another version than that of
// the file has other faults, and says nothing about ours.
func compare(t *testing.T, name, version, text string) {
	t.Helper()
	path := file(name)
	head, text := titled(name, version, text)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	had, _, _ := strings.Cut(string(want), "\n")
	if had != head {
		t.Skipf("%s was made with %s, here is %s: run with -update to see what differs", path, had, head)
	}
	if string(want) != text {
		t.Errorf("%s is out of date: run with -update, and read the difference\n%s", path, difference(string(want), text))
	}
}

// difference is the lines that stand in one text alone.
func difference(want, got string) string {
	var b strings.Builder
	only := func(mark, text, other string) {
		known := map[string]bool{}
		for line := range strings.Lines(other) {
			known[line] = true
		}
		for line := range strings.Lines(text) {
			if !known[line] {
				b.WriteString(mark + line)
			}
		}
	}
	only("- ", want, got)
	only("+ ", got, want)
	return b.String()
}

func listed(vectors []vector, outcomes []outcome) string {
	var b strings.Builder
	for i, v := range vectors {
		fmt.Fprintf(&b, "%s\n\t%s\n", v.name, outcomes[i])
	}
	return b.String()
}

type kind struct {
	name, meaning string
	is            func(ours, theirs outcome) bool
}

// kinds of disagreement, the gravest first.
var kinds = []kind{
	{"passes", "it connects for what we refuse", func(o, t outcome) bool { return len(o.Dialled) == 0 && len(t.Dialled) > 0 }},
	{"asks", "it looks up a name that we do not", func(o, t outcome) bool { return len(o.Dialled) == 0 && !o.Looked && t.Looked }},
	{"refuses", "it does not connect for what we pass", func(o, t outcome) bool { return len(o.Dialled) > 0 && len(t.Dialled) == 0 }},
	{"differs", "both connect; the far side or the client gets something else", func(o, _ outcome) bool { return len(o.Dialled) > 0 }},
	{"answers", "neither connects; the client is told something else", func(outcome, outcome) bool { return true }},
}

func disagreements(vectors []vector, ours, theirs []outcome) string {
	groups := make([]groups, len(kinds))
	total := 0
	for i, v := range vectors {
		o, t := ours[i], theirs[i]
		if v.raced || o.String() == t.String() {
			continue
		}
		total++
		k := slices.IndexFunc(kinds, func(k kind) bool { return k.is(o, t) })
		why := v.source
		// Where both refuse, the status alone is in question.
		if text := cmp.Or(v.why, o.Message); text != "" && k < len(kinds)-1 {
			why += ": " + text
		}
		groups[k].add(v.name, fmt.Sprintf("\tit:   %s\n\tours: %s\n\twhy:  %s\n", elide(t, v), elide(o, v), why))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d vectors, %d disagreements\n", len(vectors), total)
	for i, k := range kinds {
		if g := groups[i]; len(g.texts) > 0 {
			fmt.Fprintf(&b, "\n# %s: %s (%d)\n\n", k.name, k.meaning, g.total)
			for _, text := range g.texts {
				b.WriteString(strings.Join(g.names[text], "") + text)
			}
		}
	}
	return b.String()
}

// elide shortens an outcome that differs from its neighbours in the address alone
// that the vector is about.
func elide(o outcome, v vector) string {
	s := o.String()
	if v.about.IsValid() {
		s = strings.Replace(s, "to "+netip.AddrPortFrom(v.about.Unmap(), portTLS).String(), "to that address", 1)
	}
	return s
}

// groups are the names of vectors by the text that is true of each.
type groups struct {
	total int
	texts []string
	names map[string][]string
}

func (g *groups) add(name, text string) {
	if g.names == nil {
		g.names = map[string][]string{}
	}
	if len(g.names[text]) == 0 {
		g.texts = append(g.texts, text)
	}
	g.names[text] = append(g.names[text], name+"\n")
	g.total++
}
