package escape

import (
	"context"
	"os"
	"path/filepath"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// access is one way to a file of the tree that plantTree makes; the path begins
// at its top.
type access struct {
	op   string
	path string
	args []string
	// root: only uid 0 could do it outside.
	root bool
	// declared is declared read-only too: a link where an earlier agent could write.
	declared string
}

var _ = kit.Table(catalog.Case{
	ID:      "ESC-015",
	Title:   "touches no file outside the declared paths",
	Must:    "Files outside the declared paths MUST NOT be readable or writable, and those declared read-only not writable; symbolic links and .. change nothing.",
	Level:   catalog.Security,
	Clause:  "11.15",
	Needs:   []subject.Capability{subject.Landlock},
	Host:    []catalog.HostFact{catalog.HostLandlock},
	RowHost: []catalog.HostFact{catalog.HostRoot, catalog.HostTwoUIDs},
	Faults:  []string{"host-files-shown", "read-only-ignored", "planted-link-followed", "shadow-shown"},
	Why:     "An agent works on a checkout; the keys of its user lie two folders beside it.",
}, []kit.Row[access]{
	{Name: "read", Value: access{op: attempt.OpReadFile, path: "/secret/file"}},
	{Name: "read-dotdot", Value: access{op: attempt.OpReadFile, path: "/rw/../secret/file"}},
	{Name: "read-symlink", Value: access{op: attempt.OpReadFile, path: "/rw/link/file"}},
	{Name: "read-symlink-file", Value: access{op: attempt.OpReadFile, path: "/ro/link-file"}},
	{Name: "list", Value: access{op: attempt.OpListDir, path: "/secret"}},
	{Name: "write", Value: access{op: attempt.OpOpen, path: "/secret/file", args: []string{"w"}}},
	{Name: "write-dotdot", Value: access{op: attempt.OpOpen, path: "/rw/../secret/file", args: []string{"w"}}},
	{Name: "write-symlink", Value: access{op: attempt.OpOpen, path: "/rw/link/file", args: []string{"w"}}},
	{Name: "create", Value: access{op: attempt.OpOpen, path: "/secret/new", args: []string{"w", "create"}}},
	{Name: "create-beside", Value: access{op: attempt.OpOpen, path: "/rw/../new", args: []string{"w", "create"}}},
	{Name: "write-read-only", Value: access{op: attempt.OpOpen, path: "/ro/file", args: []string{"w"}}},
	{Name: "create-read-only", Value: access{op: attempt.OpOpen, path: "/ro/new", args: []string{"w", "create"}}},
	{Name: "read-declared-symlink", Value: access{op: attempt.OpReadFile, path: "/secret/file", declared: "/rw/link"}},
	{Name: "shadow", Value: access{op: attempt.OpReadFile, path: "/etc/shadow", root: true}},
}, func(ctx context.Context, t *kit.T, a access) {
	top := plantTree(t)
	try := attempt.Attempt{Op: a.op, Path: top + a.path, Args: a.args}
	if a.root {
		t.RequireHost(catalog.HostRoot)
		t.RequireHost(catalog.HostTwoUIDs) // uid 0 of this machine, not of a namespace
		try.Path = a.path
	}
	control := t.Outside(ctx).Do(ctx, try)
	if a.root && control.Errno == "ENOENT" {
		t.Moot("there is no %s here", a.path)
	}
	t.Control("the same outside", control, kit.Succeed())

	spec := subject.Spec{Paths: &subject.Paths{RO: []string{top + "/ro"}, RW: []string{top + "/rw"}}}
	declared := t.Start(ctx, spec)
	declared.Honoured(ctx, "paths")
	agent := declared.Agent
	t.Control("a file that is declared read-only", agent.Do(ctx, attempt.Attempt{Op: attempt.OpReadFile, Path: top + "/ro/file"}), kit.HaveText("declared"))
	t.Control("a file in a folder that is declared writable", agent.Do(ctx, attempt.Attempt{Op: attempt.OpOpen, Path: top + "/rw/new", Args: []string{"w", "create"}}), kit.Succeed())
	if a.declared != "" {
		spec.Paths.RO = append(spec.Paths.RO, top+a.declared)
		phase := t.Start(ctx, spec)
		if phase.Fate(ctx) == "exit code 125" {
			t.Attempt("files of it that a refused start shows", 0, kit.BeNone())
			return
		}
		agent = phase.Agent
	}
	got := agent.Do(ctx, try)
	t.Attempt("bytes of it that the sandbox reads", int(got.Bytes)+len(got.Names), kit.BeNone())
	t.Attempt("the same in the sandbox", got, kit.HaveErrno("ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS"))
})

// plantTree makes folders to declare, ro and rw, one beside them that is not
// declared, secret, and links from the ones into the other.
func plantTree(t *kit.T) string {
	top := t.Dir("tree")
	for _, dir := range []string{"ro", "rw", "secret"} {
		t.Dir("tree/" + dir)
		if err := os.WriteFile(filepath.Join(top, dir, "file"), []byte("declared"), 0o600); err != nil {
			t.Fatal("plant a file: %v", err)
		}
	}
	for link, target := range map[string]string{"rw/link": "../secret", "ro/link-file": top + "/secret/file"} {
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Fatal("plant a link: %v", err)
		}
	}
	return top
}
