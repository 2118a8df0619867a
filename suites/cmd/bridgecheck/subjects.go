package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// target is the executable under test and the name its results are filed under.
type target struct {
	arg, path, name string
	ours            bool
}

// shipped are the subjects known by name: programs built beside this one.
var shipped = map[string]string{"ref-native": "refbridge"}

// findSubject takes a name of [shipped] or the path of an executable.
func findSubject(arg, bin string) (target, error) {
	if program, ok := shipped[arg]; ok {
		return target{arg: arg, path: filepath.Join(bin, program), name: arg, ours: true}, nil
	}
	if !strings.ContainsRune(arg, '/') {
		return target{}, fmt.Errorf("subject %q is unknown; name ref-native or give the path of an executable, such as ./%s", arg, arg)
	}
	path, err := filepath.Abs(arg)
	if err != nil {
		return target{}, fmt.Errorf("subject %s: %w", arg, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return target{}, fmt.Errorf("subject %s: %w", arg, err)
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return target{}, fmt.Errorf("subject %s: not an executable file", arg)
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
