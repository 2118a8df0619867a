package upstream

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bridgecheck/suites/report"
)

// tools makes programs of these names that note how they were called, and are all
// that PATH has, apart from what a shell script needs.
func tools(t *testing.T, names ...string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	for _, name := range names {
		put(t, filepath.Join(dir, name), "#!/bin/sh\necho ${0##*/} \"$@\" >> "+log+"\n")
	}
	for _, name := range []string{"sh", "grep", "echo"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is missing", name)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return log
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestLibrary: newer trees are packaged first, older ones are not, and what is
// missing is named with where it comes from.
func TestLibrary(t *testing.T) {
	all := []string{"cargo", "cc", "make", "pkg-config", "cbindgen"}
	for _, tt := range []struct {
		name, makefile string
		tools          []string
		want           string // calls of make
		missing        []string
	}{
		{"newer", "package:\n\ninstall:\n", all, "make package PREFIX=/p\nmake install PREFIX=/p\n", nil},
		{"older", "install: build\n", all, "make install PREFIX=/p\n", nil},
		{"no Rust", "install:\n", []string{"cc", "make", "pkg-config"}, "", []string{"cargo: Rust 1.85", "cbindgen: cargo install cbindgen"}},
		{"no compiler", "install:\n", []string{"cargo", "make", "pkg-config", "cbindgen"}, "", []string{"cc: the package gcc"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := t.TempDir()
			put(t, filepath.Join(source, "Makefile"), tt.makefile)
			put(t, filepath.Join(source, "Cargo.toml"), "")
			calls := tools(t, tt.tools...)
			var log bytes.Buffer
			err := Library(t.Context(), "../..", source, "/p", &log)
			if errors.Is(err, ErrToolchain) != (tt.missing != nil) || tt.missing == nil && err != nil {
				t.Errorf("%v\n%s", err, &log)
			}
			for _, want := range tt.missing {
				if !strings.Contains(log.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, &log)
				}
			}
			got, _ := os.ReadFile(calls) // there is none when nothing was called
			if string(got) != tt.want {
				t.Errorf("calls:\n%swant:\n%s", got, tt.want)
			}
		})
	}
}

// TestSubjectsThatDoNotFit: nothing is built, and the verdict is written.
func TestSubjectsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "go", "arapuca.go"), "package arapuca\n\nimport \"C\"\n\nfunc f() { C.arapuca_launch() }\n")
	put(t, filepath.Join(dir, "prefix", "lib", "libarapuca.a"), "!<arch>\n"+pad("/", 16)+strings.Repeat(" ", 32)+pad("4", 10)+"`\n\x00\x00\x00\x00")
	put(t, filepath.Join(dir, "prefix", "bin", "arapuca"), "#!/bin/sh\necho arapuca 0.2.4 >&2\n")
	put(t, filepath.Join(dir, "tools", "pkg-config"), "#!/bin/sh\ncase $1 in --modversion) echo 0.2.4;; *) echo "+filepath.Join(dir, "prefix", "lib")+";; esac\n")
	t.Setenv("PATH", filepath.Join(dir, "tools")+":"+os.Getenv("PATH"))
	var log bytes.Buffer
	b := Build{Repository: "../..", Binding: filepath.Join(dir, "go"), BindingVersion: "0.2.5", Prefix: filepath.Join(dir, "prefix"), Names: Subjects, Log: &log}
	out := filepath.Join(dir, "out")
	l, err := b.Subjects(t.Context(), out)
	if err != nil || l == nil || l.Text() != "go-arapuca 0.2.5 needs a newer arapuca: missing in arapuca 0.2.4: arapuca_launch" {
		t.Fatalf("%+v, %v\n%s", l, err, &log)
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) != 1 || files[0].Name() != report.LinkFile {
		t.Errorf("%v, %v", files, err)
	}
}

func pad(s string, width int) string { return s + strings.Repeat(" ", width-len(s)) }

// TestCopyWrapper: the program arapuca of the prefix, else the one in PATH.
func TestCopyWrapper(t *testing.T) {
	prefix, inPath := t.TempDir(), t.TempDir()
	put(t, filepath.Join(prefix, "bin", "arapuca"), "of the prefix")
	put(t, filepath.Join(inPath, "arapuca"), "in PATH")
	for _, tt := range []struct{ name, prefix, path, want string }{
		{"prefix", prefix, inPath, "of the prefix"},
		{"PATH", "", inPath, "in PATH"},
		{"neither", "", t.TempDir(), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			out := t.TempDir()
			if err := (Build{Prefix: tt.prefix}).copyWrapper(out); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(filepath.Join(out, "arapuca")) // there is none for neither
			if string(got) != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestCopyTo: what git would keep is copied, with its history, and nothing else.
func TestCopyTo(t *testing.T) {
	r := newRepository(t)
	put(t, filepath.Join(r.dir, ".gitignore"), "target\n")
	put(t, filepath.Join(r.dir, "target", "big"), "")
	put(t, filepath.Join(r.dir, "new"), "not committed")
	if err := os.Symlink("file", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	tree := Tree{Dir: r.dir, Repository: r.dir}
	to := filepath.Join(t.TempDir(), "deep", "copy")
	if err := tree.CopyTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"file": true, "new": true, "link": true, ".gitignore": true, "target": false} {
		if _, err := os.Lstat(filepath.Join(to, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, question := range [][]string{{"describe", "--tags", "--always"}, {"status", "--porcelain"}} {
		want, err := git(t.Context(), r.dir, question...)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := git(t.Context(), to, question...); err != nil || got != want {
			t.Errorf("git %s: %q, %v; want %q", question[0], got, err, want)
		}
	}
	plain := t.TempDir()
	put(t, filepath.Join(plain, "a", "b"), "text")
	if err := (Tree{Dir: plain}).CopyTo(t.Context(), filepath.Join(t.TempDir(), "copy")); err != nil {
		t.Error(err)
	}
}

// TestSubjectsAreLinkedWithTheLibraryThatIsThere: a library that was replaced, in
// the same place, is not taken from the build cache of Go.
func TestSubjectsAreLinkedWithTheLibraryThatIsThere(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds with cgo twice")
	}
	for _, tool := range []string{"cc", "ar", "pkg-config", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing", tool)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "go"), os.DirFS("../../ref/arapuca/double")); err != nil {
		t.Fatal(err)
	}
	// A binding that has the double's interface, and tells which library it has.
	put(t, filepath.Join(dir, "go", "tell.go"), `package arapuca

/*
#cgo pkg-config: arapuca
#include <arapuca.h>
*/
import "C"

import "os"

func init() {
	if os.Getenv("TELL_THE_LIBRARY") != "" {
		os.Exit(int(C.arapuca_number()))
	}
}
`)
	prefix := filepath.Join(dir, "prefix")
	put(t, filepath.Join(prefix, "include", "arapuca.h"), "int arapuca_number(void);\n")
	put(t, filepath.Join(prefix, "lib", "pkgconfig", "arapuca.pc"),
		"Name: arapuca\nDescription: d\nVersion: 1\nCflags: -I"+prefix+"/include\nLibs: -L"+prefix+"/lib -larapuca\n")
	b := Build{Repository: "../..", Binding: filepath.Join(dir, "go"), Prefix: prefix, Log: os.Stderr}
	for _, number := range []string{"41", "42"} {
		put(t, filepath.Join(prefix, "lib", "a.c"), "int arapuca_number(void) { return "+number+"; }\n")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "cc -c a.c -o a.o && rm -f libarapuca.a && ar rcs libarapuca.a a.o")
		cmd.Dir = filepath.Join(prefix, "lib")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("no C library can be made here: %v: %s", err, out)
		}
		library, err := b.native(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(dir, "program")
		if err := b.compile(t.Context(), "./cmd/ara", program, library); err != nil {
			t.Fatal(err)
		}
		ask := exec.CommandContext(t.Context(), program)
		ask.Env = append(os.Environ(), "TELL_THE_LIBRARY=1")
		_ = ask.Run() // its exit is the answer
		if got := ask.ProcessState.ExitCode(); number != strconv.Itoa(got) {
			t.Errorf("it is linked with library %d, want %s", got, number)
		}
	}
}
