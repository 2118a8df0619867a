package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Builder builds subjects from the module at Root into folders below Out.
type Builder struct {
	Root    string // the module's root, absolute
	Package string // what is built, as ./ref/cmd/refbridge
	Out     string // absolute
	// Dir is the folder of the module that Package is of, from Root; empty is Root.
	Dir string
	// Companion is a package of the program that stands beside the subject, as its
	// file with -ara, for the checks on arapuca; empty is none.
	Companion string

	relinkers map[string]*relinker // by package; none before prepare
	all       bool                 // every check runs, those on arapuca too
}

// Build applies the fault and builds it; the binary is Out/NAME/ with the
// package's name. A block that does not occur exactly once, and a patch that
// does not compile, are errors: the fault has to be rewritten then.
func (b Builder) Build(ctx context.Context, f Fault) (string, error) {
	dir := filepath.Join(b.Out, f.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("fault %s: make its folder: %w", f.Name, err)
	}
	patched, err := b.patch(f)
	if err != nil {
		return "", fmt.Errorf("fault %s: %w", f.Name, err)
	}
	overlay := map[string]string{}
	for file, text := range patched {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("fault %s: write the patched file: %w", f.Name, err)
		}
		overlay[filepath.Join(b.Root, filepath.FromSlash(file))] = path
	}
	for file := range overlay {
		if b.relinkers != nil && !slices.ContainsFunc(slices.Collect(maps.Values(b.relinkers)), func(r *relinker) bool { return r.has(file) }) {
			return "", fmt.Errorf("fault %s: %s is not compiled into the program", f.Name, file)
		}
	}
	if !b.all && !slices.ContainsFunc(f.Cases, func(id string) bool { return strings.HasPrefix(id, "ARA-") }) {
		b.Companion = ""
		_ = os.Remove(filepath.Join(dir, filepath.Base(b.Package)) + "-ara") // of an earlier run
	}
	binary, err := b.compile(ctx, dir, overlay)
	if err != nil {
		return "", fmt.Errorf("fault %s: %w", f.Name, err)
	}
	return binary, nil
}

// prepare builds the same package without any fault, into Out/original, and learns
// from it how to build those with one.
func (b *Builder) prepare(ctx context.Context) (string, error) {
	dir := filepath.Join(b.Out, original)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("original: make its folder: %w", err)
	}
	binary, err := b.compile(ctx, dir, nil)
	if err != nil {
		return "", fmt.Errorf("original: %w", err)
	}
	learnt := map[string]*relinker{}
	for pkg, program := range map[string]string{b.Package: binary, b.Companion: binary + "-ara"} {
		if pkg == "" {
			continue
		}
		if learnt[pkg], err = b.newRelinker(ctx, program, pkg); err != nil {
			return "", fmt.Errorf("original: %w", err)
		}
	}
	b.relinkers = learnt
	return binary, nil
}

const original = "original"

// Applies tells, without building, whether the fault's blocks are still where it
// looks for them.
func (b Builder) Applies(f Fault) error {
	if _, err := b.patch(f); err != nil {
		return fmt.Errorf("fault %s: %w", f.Name, err)
	}
	return nil
}

// patch returns the text of each file that the fault changes. Edits of one file
// apply in their order, each to what the last one left.
func (b Builder) patch(f Fault) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range f.edits() {
		text, ok := texts[e.File]
		if !ok {
			data, err := os.ReadFile(filepath.Join(b.Root, filepath.FromSlash(e.File)))
			if err != nil {
				return nil, fmt.Errorf("read the file to patch: %w", err)
			}
			text = string(data)
		}
		if n := strings.Count(text, e.Find); n != 1 {
			return nil, fmt.Errorf("the block to find occurs %d times in %s; it must occur once:\n%s", n, e.File, e.Find)
		}
		// Line numbers count as exported: where they stay, relinking may do.
		gone := max(0, strings.Count(e.Find, "\n")-strings.Count(e.Replace, "\n"))
		texts[e.File] = strings.Replace(text, e.Find, e.Replace+strings.Repeat("\n", gone), 1)
	}
	return texts, nil
}

// compile builds through the ordinary cache. Without symbols the link is quicker.
func (b Builder) compile(ctx context.Context, dir string, overlay map[string]string) (string, error) {
	data, err := json.Marshal(map[string]map[string]string{"Replace": overlay})
	if err != nil {
		return "", fmt.Errorf("encode overlay: %w", err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, data, 0o644); err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	binary := filepath.Join(dir, filepath.Base(b.Package))
	if err := b.link(ctx, overlayFile, binary, b.Package, overlay); err != nil || b.Companion == "" {
		return binary, err
	}
	return binary, b.link(ctx, overlayFile, binary+"-ara", b.Companion, overlay)
}

// link links what the fault has changed with what it has not, or builds all anew.
func (b Builder) link(ctx context.Context, overlayFile, binary, pkg string, overlay map[string]string) error {
	if r := b.relinkers[pkg]; r != nil && r.link(ctx, overlay, binary) == nil {
		return nil
	}
	_ = os.Remove(binary) // half of one, where the linker gave up
	_, err := b.goCommand(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-overlay", overlayFile, "-o", binary, pkg)
	return err
}

// goCommand runs the go command in the module of Package and gives what it prints.
func (b Builder) goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(b.Root, b.Dir)
	cmd.Env = append(frugal(), "PWD="+cmd.Dir) // the overlay goes by the name that go has for it
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w:\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// frugal is the environment of the compiler and the linker, which do not live
// long enough to need a collector before they are large.
func frugal() []string {
	return append(os.Environ(), "GOGC=off", "GOMEMLIMIT=1GiB", "CGO_ENABLED=0")
}
