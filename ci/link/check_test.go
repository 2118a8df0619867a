package link_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bridgecheck/ci/link"
)

// history is a checkout of a library whose releases each declare one function more.
func history(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	header := ""
	for _, release := range []struct{ tag, function string }{
		{"v0.2.2", ""}, {"v0.2.9", "arapuca_launch"}, {"v0.2.10", "arapuca_set_exec"},
	} {
		if release.function != "" {
			header += "int " + release.function + "(void);\n"
			write(t, dir, "include/arapuca.h", header)
			git("add", ".")
		}
		git("commit", "-q", "--allow-empty", "-m", release.tag)
		git("tag", release.tag)
	}
	return dir
}

func TestSince(t *testing.T) {
	dir := history(t)
	for _, tt := range []struct {
		functions []string
		want      string
	}{
		{[]string{"arapuca_launch"}, "≥ 0.2.9"},
		{[]string{"arapuca_launch", "arapuca_set_exec"}, "≥ 0.2.10"}, // 10 is above 9
		{[]string{"arapuca_set"}, ""},                                // no part of a name
	} {
		if got, err := link.Since(t.Context(), dir, tt.functions); err != nil || got != tt.want {
			t.Errorf("%v: %q, %v; want %q", tt.functions, got, err, tt.want)
		}
	}
	if _, err := link.Since(t.Context(), filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a folder that is not there was accepted")
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go/arapuca.go", "package arapuca\n\nimport \"C\"\n\nfunc f() { C.arapuca_launch(); C.arapuca_set_exec() }\n")
	old := write(t, dir, "old.a", string(archive("/", 4, "arapuca_launch")))
	whole := write(t, dir, "new.a", string(archive("/", 4, "arapuca_launch", "arapuca_set_exec")))
	wrapper := func(name, answer string) string { return write(t, dir, name, "#!/bin/sh\necho '"+answer+"' >&2\n") }
	same, older := wrapper("same", "arapuca 0.2.8"), wrapper("older", "arapuca 0.2.4")

	for _, tt := range []struct {
		name, library, version, wrapper, want string
	}{
		{"they fit", whole, "0.2.8", same, "go-arapuca 0.2.5 fits arapuca 0.2.8"},
		{"a symbol is missing", old, "0.2.8", same, "go-arapuca 0.2.5 needs arapuca ≥ 0.2.10: missing in arapuca 0.2.8: arapuca_set_exec"},
		{"the wrapper is older", whole, "0.2.8", older, "arapuca 0.2.8 is linked, and the program it runs is arapuca 0.2.4: what that one does not know has no effect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := link.Check(t.Context(), link.Request{
				Binding: filepath.Join(dir, "go"), BindingVersion: "v0.2.5", History: history(t),
				Library: tt.library, LibraryVersion: tt.version, Wrapper: tt.wrapper,
			})
			if err != nil || l.Text() != tt.want || l.OK() != strings.Contains(tt.want, " fits ") {
				t.Errorf("%q, %v, ok %v; want %q", l.Text(), err, l.OK(), tt.want)
			}
		})
	}
}

// TestCheckFindsTheLibrary: by the variable of the .pc file, or by its search path.
func TestCheckFindsTheLibrary(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "arapuca.go", binding)
	write(t, dir, "lib/libarapuca.a", string(archive("/", 4, "arapuca_launch", "arapuca_sandbox_new")))
	for _, tt := range []struct {
		name, variable, path string
		found                bool
	}{
		{"by the variable", filepath.Join(dir, "lib"), "", true},
		{"by the search path", "", "-L/none -L" + filepath.Join(dir, "lib"), true},
		{"nowhere", "/none", "-L/none", false},
		{"not told", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tools := t.TempDir()
			write(t, tools, "pkg-config", "#!/bin/sh\ncase $1 in --modversion) echo 0.2.8;; --variable=libdir) echo '"+tt.variable+"';; --libs-only-L) echo '"+tt.path+"';; esac\n")
			t.Setenv("PATH", tools)
			l, err := link.Check(t.Context(), link.Request{Binding: dir})
			if (err == nil) != tt.found || tt.found && (!l.OK() || l.Library.Version != "0.2.8") {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
}

// TestCheckSaysWhatToInstall: what is not there is named, with its fix.
func TestCheckSaysWhatToInstall(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "arapuca.go", binding)
	library := write(t, dir, "lib.a", string(archive("/", 4, "arapuca_launch", "arapuca_sandbox_new")))
	t.Setenv("PATH", t.TempDir())
	_, err := link.Check(t.Context(), link.Request{Binding: dir, BindingVersion: "1"})
	if err == nil || !strings.Contains(err.Error(), "install pkg-config and arapuca") {
		t.Errorf("no pkg-config: %v", err)
	}
	l, err := link.Check(t.Context(), link.Request{Binding: dir, Library: library})
	if err != nil || !l.OK() || l.Wrapper.Version != "" || l.Binding.Version != "" {
		t.Errorf("neither git nor a wrapper: %+v, %v", l, err)
	}
	for answer, want := range map[string]string{"exit 3": "exit status 3", "echo 0.2.8": "names no version"} {
		wrapper := write(t, dir, "w", "#!/bin/sh\n"+answer+"\n")
		_, err := link.Check(t.Context(), link.Request{Binding: dir, Library: library, Wrapper: wrapper})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a wrapper that says %q: %v", answer, err)
		}
	}
}
