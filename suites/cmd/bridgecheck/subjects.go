package main

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// target is the executable under test and the name its results are filed under.
type target struct {
	arg, path, name string
	ours            bool
}

// shipped are the subjects known by name: programs built beside this one. What
// stands behind a name other than ref-native is not the bridge's alone, so that
// its house rules do not gate it.
var shipped = map[string]struct {
	program, build string
	ours           bool
}{
	"ref-native":               {"refbridge", "make build", true},
	"ref-arapuca-double":       {"ref-arapuca-double", "make doubles", false},
	"ref-arapuca-hosts-double": {"ref-arapuca-hosts-double", "make doubles", false},
	"arapuca-cli-double":       {"arapuca-cli-double", "make doubles", false},
	"ref-arapuca":              {"ref-arapuca", "make gate GO_ARAPUCA=PATH, or the image in containers/images/arapuca", false},
	"ref-arapuca-hosts":        {"ref-arapuca-hosts", "make gate GO_ARAPUCA=PATH, or the image in containers/images/arapuca", false},
	"arapuca-cli":              {"arapuca-cli", "make gate GO_ARAPUCA=PATH, or the image in containers/images/arapuca", false},
}

// findSubject takes a name of [shipped] or the path of an executable. A name that
// is neither is wrong usage.
func findSubject(arg, bin string) (target, error) {
	if known, ok := shipped[arg]; ok {
		path := filepath.Join(bin, known.program)
		if _, err := os.Stat(path); err != nil {
			return target{}, harness(fmt.Errorf("subject %s is not built: %w; build it with: %s", arg, err, known.build))
		}
		return target{arg: arg, path: path, name: arg, ours: known.ours}, nil
	}
	if !strings.ContainsRune(arg, '/') {
		return target{}, fmt.Errorf("subject %q is unknown; name one of %s, or give the path of an executable, such as ./%s",
			arg, strings.Join(slices.Sorted(maps.Keys(shipped)), ", "), arg)
	}
	path, err := filepath.Abs(arg)
	if err != nil {
		return target{}, harness(fmt.Errorf("subject %s: %w", arg, err))
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return target{}, harness(fmt.Errorf("subject %s: %w", arg, err))
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return target{}, harness(fmt.Errorf("subject %s: not an executable file", arg))
	}
	return target{arg: arg, path: path, name: filepath.Base(path)}, nil
}

// binDir is the folder this program was started from; its companions lie there.
func binDir() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	dir := filepath.Dir(self)
	for _, name := range []string{"probe", "fakemcp", "knob"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("the fake %s is missing beside %s; `make build` makes it", name, self)
		}
	}
	return dir, nil
}

// standsAlone tells whether a program runs in an image that holds nothing else:
// a static executable does; a script and what is linked dynamically do not.
func standsAlone(path string) bool {
	program, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}
