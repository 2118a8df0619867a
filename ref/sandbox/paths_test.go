package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"bridgecheck/ref/sandbox"
)

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	for _, d := range []string{"work", "other"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// What an earlier agent could have planted in its own directory.
	planted := filepath.Join(work, "planted")
	if err := os.Symlink("/etc/passwd", planted); err != nil {
		t.Fatal(err)
	}
	alias := filepath.Join(dir, "alias")
	file, hard := filepath.Join(dir, "other", "file"), filepath.Join(dir, "other", "hard")
	for _, err := range []error{
		os.Symlink("work", alias), os.WriteFile(file, nil, 0o644), os.Link(file, hard),
		os.Symlink(planted, filepath.Join(dir, "chain")), os.Symlink("/", filepath.Join(dir, "root")), os.Symlink("/proc", filepath.Join(dir, "proc")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	base := sandbox.Spec{Path: "/bin/true"}
	for _, row := range []struct {
		name  string
		field string
		spec  func(*sandbox.Spec)
	}{
		{"no program", "Path", func(s *sandbox.Spec) { s.Path = "" }},
		{"relative path", "RO", func(s *sandbox.Spec) { s.RO = []string{"usr"} }},
		{"missing path", "RW", func(s *sandbox.Spec) { s.RW = []string{"/no/such/path"} }},
		{"whole root", "RO", func(s *sandbox.Spec) { s.RO = []string{"/"} }},
		{"whole root, dressed up", "RO", func(s *sandbox.Spec) { s.RO = []string{"/usr/.."} }},
		{"whole root, by a link", "RO", func(s *sandbox.Spec) { s.RO = []string{dir + "/root"} }},
		{"proc, by a link", "RO", func(s *sandbox.Spec) { s.RO = []string{dir + "/proc/sys"} }},
		{"proc", "RO", func(s *sandbox.Spec) { s.RO = []string{"/proc"} }},
		{"below dev", "RW", func(s *sandbox.Spec) { s.RW = []string{"/dev/null"} }},
		{"read-only and writable", "RW", func(s *sandbox.Spec) { s.RO = []string{work}; s.RW = []string{work} }},
		{"both, with a slash", "RW", func(s *sandbox.Spec) { s.RO = []string{work}; s.RW = []string{work + "/"} }},
		{"both, by ..", "RW", func(s *sandbox.Spec) { s.RO = []string{dir + "/other/../work"}; s.RW = []string{work} }},
		{"both, by a link to read", "RW", func(s *sandbox.Spec) { s.RO = []string{alias}; s.RW = []string{work} }},
		{"both, by a link to write", "RW", func(s *sandbox.Spec) { s.RO = []string{work}; s.RW = []string{alias} }},
		{"both, by a hard link", "RW", func(s *sandbox.Spec) { s.RO = []string{file}; s.RW = []string{hard} }},
		{"link to a link in a writable directory", "RO", func(s *sandbox.Spec) { s.RW = []string{work}; s.RO = []string{dir + "/chain"} }},
		{"link in what is writable by another name", "RO", func(s *sandbox.Spec) { s.RW = []string{alias}; s.RO = []string{planted} }},
		{"link in a writable directory, by another name", "RO", func(s *sandbox.Spec) { s.RW = []string{work}; s.RO = []string{alias + "/planted"} }},
		{"link in a writable directory, to write", "RW", func(s *sandbox.Spec) { s.RW = []string{work, planted} }},
		{"link in a writable directory", "RO", func(s *sandbox.Spec) { s.RW = []string{work}; s.RO = []string{planted} }},
		{"unknown level", "Level", func(s *sandbox.Spec) { s.Level = "some" }},
		{"unknown profile", "Seccomp", func(s *sandbox.Spec) { s.Seccomp = "some" }},
		{"relative directory", "Cwd", func(s *sandbox.Spec) { s.Cwd = "tmp" }},
		{"hidden directory", "Cwd", func(s *sandbox.Spec) { s.Cwd = work }},
		{"standard stream", "Descriptors", func(s *sandbox.Spec) { s.Descriptors = []int{2} }},
		{"closed descriptor", "Descriptors", func(s *sandbox.Spec) { s.Descriptors = []int{4000} }},
		{"port twice", "Ports", func(s *sandbox.Spec) { s.Ports = []uint16{1, 0, 0, 1} }},
		{"sockets over what is shown", "Sockets", func(s *sandbox.Spec) { s.Sockets = []sandbox.Sockets{{Dir: "/tmp", At: "/usr/mcp"}} }},
		{"limit below 0", "Limits", func(s *sandbox.Spec) { s.Limits.Files = -1 }},
	} {
		spec := base
		row.spec(&spec)
		s, err := sandbox.Launch(context20(t), spec)
		if s != nil {
			_ = s.Kill()
		}
		var refusal *sandbox.Refusal
		if !errors.As(err, &refusal) || refusal.Field != row.field {
			t.Errorf("%s: got %v, want a refusal of %s", row.name, err, row.field)
		}
	}
}

// What is declared is there under its own name, also through links, inside
// other declared paths, and where the host's own directories are links.
func TestDeclaredPaths(t *testing.T) {
	needNamespaces(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"a/b", "a/b/c", "data", "hidden"} {
		if err := os.MkdirAll(p(d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p(d+"/f"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("data", p("link")); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		ro, rw []string
		want   map[string]string
	}{
		{"writable in read-only", []string{p("a")}, []string{p("a/b")}, map[string]string{
			"read-" + p("a/b/f"): "ok", "write-" + p("a/b/f"): "ok", "write-" + p("a/b/c/f"): "ok",
		}},
		{"read-only in writable", []string{p("a/b")}, []string{p("a")}, map[string]string{
			"read-" + p("a/b/f"): "ok", "write-" + p("a/b/f"): "EROFS", "write-" + p("a/b/c/f"): "EROFS",
		}},
		{"both, three deep", []string{p("a/b")}, []string{p("a"), p("a/b/c")}, map[string]string{
			"write-" + p("a/b/f"): "EROFS", "write-" + p("a/b/c/f"): "ok",
		}},
		{"through a link", []string{p("link/f")}, nil, map[string]string{
			"read-" + p("link/f"): "ok", "read-" + p("data/f"): "ok", "write-" + p("link/f"): "EROFS", "read-" + p("hidden/f"): "ENOENT",
		}},
		{"a link to a directory", nil, []string{p("link")}, map[string]string{
			"read-" + p("link/f"): "ok", "write-" + p("link/f"): "ok",
		}},
		{"one file", []string{p("data/f")}, nil, map[string]string{
			"read-" + p("data/f"): "ok", "read-" + p("a/b/f"): "ENOENT",
		}},
		{"a name that another begins with", []string{p("a/b")}, nil, map[string]string{
			"read-" + p("a/b/f"): "ok", "read-" + p("a"): "ok", "read-" + p("data/f"): "ENOENT",
		}},
		{"etc", []string{"/etc"}, nil, map[string]string{
			"read-/etc/passwd": "ok",
		}},
	} {
		paths := []string{"/etc/passwd", p("a"), p("a/b/f"), p("a/b/c/f"), p("link/f"), p("data/f"), p("hidden/f")}
		spec := role(t, "open", paths...)
		spec.RO, spec.RW = row.ro, row.rw
		out, exit := run(t, spec)
		if exit != (sandbox.Exit{}) {
			t.Errorf("%s: %+v: %s", row.name, exit, out)
		}
		t.Run(row.name, func(t *testing.T) { want(t, facts(out), row.want) })
	}
}

// A declared /etc does not show the password hashes, to root neither.
func TestSecrets(t *testing.T) {
	needNamespaces(t)
	if _, err := os.Stat("/etc/shadow"); err != nil {
		t.Skip("this host has no /etc/shadow")
	}
	spec := shell("cat /etc/shadow | wc -c")
	spec.RO = []string{"/etc"}
	if out, _ := run(t, spec); out != "0\n" && out != "cat: /etc/shadow: Permission denied\n0\n" {
		t.Errorf("read of /etc/shadow: %q", out)
	}
}

// The program is shown, not what lies beside it.
func TestProgramIsShown(t *testing.T) {
	needNamespaces(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "agent")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nls "+dir+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "beside"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, link} {
		spec := sandbox.Spec{Path: path, Env: []string{"PATH=/usr/bin:/bin"}}
		if out, exit := run(t, spec); out != "agent\n" || exit != (sandbox.Exit{}) {
			t.Errorf("%s: got %q, %+v", path, out, exit)
		}
	}
}
