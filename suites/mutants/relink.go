package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// relinker links a program from the packages that a fault has changed and the
// archives of all others, as the build without a fault has left them in the
// build cache. go build would compile what imports the changed ones again, which
// is most of its work and hardly ever makes a difference. Where it does, the linker
// says so: it compares what an archive exports with what its importers were
// compiled against.
type relinker struct {
	linker   string
	main     string            // the archive of package main
	archives map[string]string // by import path
	record   string            // of the build, debug/buildinfo
}

// newRelinker learns from binary, the program built from pkg without a fault.
func (b Builder) newRelinker(ctx context.Context, binary, pkg string) (*relinker, error) {
	tools, err := b.goCommand(ctx, "env", "GOTOOLDIR")
	if err != nil {
		return nil, err
	}
	list, err := b.list(ctx, "-deps", pkg)
	if err != nil {
		return nil, err
	}
	r := &relinker{linker: filepath.Join(tools, "link"), archives: map[string]string{}}
	for line := range strings.Lines(list) {
		path, archive, _ := strings.Cut(strings.TrimSpace(line), " ")
		r.archives[path], r.main = archive, archive // main comes after all that it imports
	}
	r.record, err = buildRecord(binary)
	return r, err
}

// list gives the import path of each package and the file of its archive, which
// is compiled if need be.
func (b Builder) list(ctx context.Context, args ...string) (string, error) {
	return b.goCommand(ctx, append([]string{"list", "-export", "-trimpath", "-buildvcs=false", "-f", "{{.ImportPath}} {{.Export}}"}, args...)...)
}

// link writes the program with the packages in the folders compiled anew.
func (r *relinker) link(ctx context.Context, b Builder, overlayFile, binary string, folders []string) error {
	list, err := b.list(ctx, append([]string{"-overlay", overlayFile}, folders...)...)
	if err != nil {
		return err
	}
	changed := map[string]string{}
	for line := range strings.Lines(list) {
		path, archive, _ := strings.Cut(strings.TrimSpace(line), " ")
		if r.archives[path] == "" || r.archives[path] == r.main {
			return fmt.Errorf("%s is not one of the packages to exchange", path)
		}
		changed[path] = archive
	}
	var config strings.Builder
	for path, archive := range r.archives {
		if anew, ok := changed[path]; ok {
			archive = anew
		}
		if archive != "" { // unsafe has none
			fmt.Fprintf(&config, "packagefile %s=%s\n", path, archive)
		}
	}
	fmt.Fprintf(&config, "modinfo %s\n", strconv.Quote(r.record))
	file := binary + ".importcfg"
	if err := os.WriteFile(file, []byte(config.String()), 0o644); err != nil {
		return fmt.Errorf("write what to link: %w", err)
	}
	cmd := exec.CommandContext(ctx, r.linker, "-o", binary, "-importcfg", file, "-buildmode=exe", "-s", "-w", r.main)
	cmd.Env = frugal()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("link: %w:\n%s", err, bytes.TrimSpace(out))
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
