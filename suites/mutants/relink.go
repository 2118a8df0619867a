package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// relinker compiles the packages that a fault has changed and links them with the
// archives of all others, as the build without a fault has left them in the build
// cache. go build would compile what imports the changed ones again, which is most
// of its work and hardly ever makes a difference. Where it does, the linker says
// so: it compares what an archive exports with what its importers were compiled
// against.
type relinker struct {
	tools    string     // the folder of the compiler and the linker
	packages []compiled // each after what it imports, package main at the end
	record   string     // of the build, debug/buildinfo
}

// compiled is a package of the build without a fault.
type compiled struct {
	ImportPath, Dir, Export string // Export is the archive
	GoFiles                 []string
	EmbedFiles, SFiles      []string
	Standard                bool
	Module                  struct{ Path, Version, GoVersion string }
}

// newRelinker learns from binary, the program built from pkg without a fault.
func (b Builder) newRelinker(ctx context.Context, binary, pkg string) (*relinker, error) {
	tools, err := b.goCommand(ctx, "env", "GOTOOLDIR")
	if err != nil {
		return nil, err
	}
	list, err := b.goCommand(ctx, "list", "-export", "-trimpath", "-buildvcs=false", "-deps", "-json=ImportPath,Dir,Export,GoFiles,EmbedFiles,SFiles,Standard,Module", pkg)
	if err != nil {
		return nil, err
	}
	r := &relinker{tools: tools}
	for in := json.NewDecoder(strings.NewReader(list)); in.More(); {
		var p compiled
		if err := in.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		r.packages = append(r.packages, p)
	}
	r.record, err = buildRecord(binary)
	return r, err
}

// link writes the program with the files of overlay in the place of their own.
func (r *relinker) link(ctx context.Context, overlay map[string]string, binary string) error {
	var imports strings.Builder
	file, left := binary+".importcfg", len(overlay)
	for i, p := range r.packages {
		files, changed := p.files(overlay)
		archive := p.Export
		if changed > 0 {
			if len(p.EmbedFiles)+len(p.SFiles) > 0 || i == len(r.packages)-1 {
				return fmt.Errorf("package %s is left to go build", p.ImportPath)
			}
			left -= changed
			archive = fmt.Sprintf("%s.%d.a", binary, i)
			defer os.Remove(archive)
			if err := write(file, imports.String()); err != nil {
				return err
			}
			args := append([]string{"-o", archive, "-p", p.ImportPath, "-trimpath", p.trimmed(overlay), "-lang=" + version.Lang("go"+p.Module.GoVersion), "-complete", "-pack", "-dwarf=false", "-c=1", "-importcfg", file}, files...)
			if err := r.tool(ctx, "compile", args...); err != nil {
				return err
			}
		}
		if archive != "" { // unsafe has none
			fmt.Fprintf(&imports, "packagefile %s=%s\n", p.ImportPath, archive)
		}
	}
	if left > 0 {
		return errors.New("a changed file is of another package")
	}
	if err := write(file, imports.String()+"modinfo "+strconv.Quote(r.record)+"\n"); err != nil {
		return err
	}
	return r.tool(ctx, "link", "-o", binary, "-importcfg", file, "-buildmode=exe", "-s", "-w", r.packages[len(r.packages)-1].Export)
}

// has tells whether the file is one of those that are compiled.
func (r *relinker) has(file string) bool {
	return slices.ContainsFunc(r.packages, func(p compiled) bool {
		return p.Dir == filepath.Dir(file) && slices.Contains(p.GoFiles, filepath.Base(file))
	})
}

// files are those to compile, and how many of them are from the overlay.
func (p compiled) files(overlay map[string]string) (files []string, changed int) {
	if p.Standard {
		return nil, 0
	}
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		if other, ok := overlay[path]; ok {
			path = other
			changed++
		}
		files = append(files, path)
	}
	return files, changed
}

// trimmed are the names of the files in the archive, those that go build gives
// them: they count as exported.
func (p compiled) trimmed(overlay map[string]string) string {
	to := p.ImportPath
	if m := p.Module; m.Version != "" {
		to = m.Path + "@" + m.Version + strings.TrimPrefix(to, m.Path)
	}
	all := []string{p.Dir + "=>" + to}
	for _, name := range p.GoFiles {
		if other, ok := overlay[filepath.Join(p.Dir, name)]; ok {
			all = append(all, other+"=>"+to+"/"+name)
		}
	}
	return strings.Join(all, ";")
}

func (r *relinker) tool(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(r.tools, name), args...)
	cmd.Env = frugal()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w:\n%s", name, err, bytes.TrimSpace(out))
	}
	return nil
}

func write(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write what to link: %w", err)
	}
	return nil
}

// buildRecord finds what the go command had the linker put into the program, with
// the marks round it by which debug/buildinfo finds it.
func buildRecord(binary string) (string, error) {
	const begin, end = "\x30\x77\xaf\x0c\x92\x74\x08\x02\x41\xe1\xc1\x07\xe6\xd6\x18\xe6", "\xf9\x32\x43\x31\x86\x18\x20\x72\x00\x82\x42\x10\x41\x16\xd8\xf2"
	data, err := os.ReadFile(binary)
	if err != nil {
		return "", fmt.Errorf("read the build's record: %w", err)
	}
	_, rest, found := bytes.Cut(data, []byte(begin+"path\t"))
	record, _, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return "", errors.New("the program has no record of its build")
	}
	return begin + "path\t" + string(record) + end, nil
}
