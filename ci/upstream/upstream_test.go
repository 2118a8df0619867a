package upstream

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("fork", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.Repeat("a1", 20)
	for _, tt := range []struct {
		text, value string
		kind        Kind
		pinned      bool
	}{
		{"./fork", filepath.Join(here, "fork"), Checkout, false},
		{"/", "/", Checkout, false},
		{"0.2.5", "v0.2.5", Ref, true},
		{"v0.2.5", "v0.2.5", Ref, true},
		{"0.3.0-rc.1", "v0.3.0-rc.1", Ref, true},
		{"v0.2", "v0.2", Ref, false},
		{commit, commit, Ref, true},
		{commit[:39], commit[:39], Ref, false},
		{"main", "main", Ref, false},
		{"fix/relay", "fix/relay", Ref, false},
		{"fork", "fork", Ref, false}, // a folder is told by its dot or slash alone
		{"#12", "12", PullRequest, false},
		{"pr:12", "12", PullRequest, false},
		{"pr/12", "12", PullRequest, false},
		{"https://forge.test/o/r/pull/12", "12", PullRequest, false},
	} {
		s, err := Parse(GoArapuca, tt.text)
		if err != nil || s.Value != tt.value || s.Kind != tt.kind || s.Pinned() != tt.pinned {
			t.Errorf("%q: %+v, pinned %v, %v", tt.text, s, s.Pinned(), err)
		}
	}
	for _, text := range []string{"", "./none", "./file", "-x", "--upload-pack=x", "a b", "a;b", "a..b", "#0", "#x", "pr:", "$(x)", "x^{}"} {
		if s, err := Parse(GoArapuca, text); err == nil {
			t.Errorf("%q was read as %+v", text, s)
		}
	}
}

// FuzzParse: nothing that git or a shell takes for something else becomes a ref.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"0.2.5", "pr:12", "main", "--upload-pack=x", "a..b", "./x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(GoArapuca, text)
		if err != nil {
			return
		}
		switch s.Kind {
		case Checkout:
			if !filepath.IsAbs(s.Value) {
				t.Errorf("%q became the path %q", text, s.Value)
			}
		default:
			if strings.HasPrefix(s.Value, "-") || strings.ContainsAny(s.Value, " \t\n\x00;&|$`<>~^:?*[\\") || strings.Contains(s.Value, "..") {
				t.Errorf("%q became the ref %q", text, s.Value)
			}
		}
	})
}

// repository has main with two commits, a branch from the first, and a pull
// request's head.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "t")
		t.Setenv("GIT_"+who+"_EMAIL", "t@t.test")
	}
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	r.commit("one")
	r.git("tag", "v0.1.0")
	r.git("checkout", "-q", "-b", "change")
	r.commit("changed")
	r.git("update-ref", "refs/pull/12/head", "HEAD")
	r.git("checkout", "-q", "main")
	r.commit("two")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	out, err := git(context.Background(), r.dir, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r repository) commit(text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "file"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", ".")
	r.git("commit", "-q", "-m", text)
}

func content(t *testing.T, tree Tree) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(tree.Dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestGetAndBase takes heads by every kind of source, and finds their base.
func TestGetAndBase(t *testing.T) {
	r := newRepository(t)
	project := Project{"go-arapuca", r.dir}
	cache := Cache{t.TempDir()}
	for _, tt := range []struct{ text, head, base string }{
		{"change", "changed", "one"},
		{"pr:12", "changed", "one"},
		{r.git("rev-parse", "change"), "changed", "one"},
		{"main", "two", ""}, // it is its own base
		{"v0.1.0", "one", ""},
	} {
		s, err := Parse(project, tt.text)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		head, err := cache.Get(t.Context(), s, filepath.Join(dir, "head"))
		if err != nil || content(t, head) != tt.head {
			t.Fatalf("%s: %+v, %v", s, head, err)
		}
		base, err := Base(t.Context(), head, "", filepath.Join(dir, "base"))
		switch {
		case tt.base == "" && (err == nil || !strings.Contains(err.Error(), "nothing to compare")):
			t.Errorf("%s: base %+v, %v", s, base, err)
		case tt.base != "" && (err != nil || content(t, base) != tt.base):
			t.Errorf("%s: base %+v, %v", s, base, err)
		}
	}
	for _, text := range []string{"nothing", "pr:13"} {
		s, err := Parse(project, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cache.Get(t.Context(), s, filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "no such commit") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCacheKeepsUp: what came after the first clone is seen.
func TestCacheKeepsUp(t *testing.T) {
	r := newRepository(t)
	cache := Cache{t.TempDir()}
	s := Source{Project{"go-arapuca", r.dir}, Ref, "main"}
	for _, text := range []string{"three", "four"} {
		r.commit(text)
		if tree, err := cache.Get(t.Context(), s, filepath.Join(t.TempDir(), "x")); err != nil || content(t, tree) != text {
			t.Errorf("%+v, %v; want %s", tree, err, text)
		}
	}
}

// TestCheckout: the user's folder is used as it stands, and git notes nothing there.
func TestCheckout(t *testing.T) {
	r := newRepository(t)
	r.git("checkout", "-q", "change")
	before := r.git("for-each-ref") + r.git("worktree", "list") + r.git("status", "--porcelain")
	head, err := Cache{}.Get(t.Context(), Source{GoArapuca, Checkout, r.dir}, "")
	if err != nil || head.Dir != r.dir || head.Name(t.Context()) == "" {
		t.Fatalf("%+v, %v", head, err)
	}
	for _, tt := range []struct{ branch, base string }{{"", "one"}, {"main", "one"}, {"v0.1.0", "one"}} {
		base, err := Base(t.Context(), head, tt.branch, filepath.Join(t.TempDir(), "base"))
		if err != nil || content(t, base) != tt.base {
			t.Errorf("BASE=%s: %+v, %v", tt.branch, base, err)
		}
	}
	if _, err := Base(t.Context(), head, "none", filepath.Join(t.TempDir(), "base")); err == nil || !strings.Contains(err.Error(), "BASE=none") {
		t.Errorf("a base that is not there: %v", err)
	}
	if after := r.git("for-each-ref") + r.git("worktree", "list") + r.git("status", "--porcelain"); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
	// On main itself the change is what is not committed yet.
	r.git("checkout", "-q", "main")
	head.Commit = r.git("rev-parse", "HEAD")
	if err := os.WriteFile(filepath.Join(r.dir, "file"), []byte("dirty"), 0o600); err != nil {
		t.Fatal(err)
	}
	if base, err := Base(t.Context(), head, "", filepath.Join(t.TempDir(), "base")); err != nil || content(t, base) != "two" {
		t.Errorf("on main: %+v, %v", base, err)
	}
}

// TestWithoutGitOrNetwork: the messages say what to do.
func TestWithoutGitOrNetwork(t *testing.T) {
	plain := Tree{Source: Source{GoArapuca, Checkout, t.TempDir()}, Dir: t.TempDir()}
	if _, err := Base(t.Context(), plain, "", t.TempDir()); err == nil || !strings.Contains(err.Error(), "BASE=./folder") {
		t.Errorf("no repository: %v", err)
	}
	gone := Project{"go-arapuca", filepath.Join(t.TempDir(), "gone")}
	_, err := Cache{t.TempDir()}.Get(t.Context(), Source{gone, Ref, "main"}, filepath.Join(t.TempDir(), "x"))
	if err == nil || !strings.Contains(err.Error(), "GO_ARAPUCA_REPOSITORY") {
		t.Errorf("no repository to clone: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := git(t.Context(), ".", "status"); err == nil || !strings.Contains(err.Error(), "git is missing; install it") {
		t.Errorf("no git: %v", err)
	}
}
