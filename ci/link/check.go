package link

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"bridgecheck/suites/report"
)

// Request names what is compared.
type Request struct {
	// Binding is the folder of go-arapuca's package, BindingVersion what it is to be
	// called; empty is unknown.
	Binding, BindingVersion string
	// Library is libarapuca.a or .so; empty asks pkg-config, as cgo will.
	Library, LibraryVersion string
	// Wrapper is the program that the library runs; empty looks in PATH. That
	// there is none is no finding here: a release may need none.
	Wrapper string
	// History is a checkout of arapuca with its tags, for the lowest version that
	// has what is missing; empty leaves that open.
	History string
	// PkgConfigPath is PKG_CONFIG_PATH for the question; empty is the caller's.
	PkgConfigPath string
}

// Check compares. An error is that something could not be looked at.
func Check(ctx context.Context, q Request) (report.Link, error) {
	l := report.Link{
		Binding: report.Part{Name: "go-arapuca", Version: strings.TrimPrefix(q.BindingVersion, "v")},
		Library: report.Part{Name: "arapuca", Version: q.LibraryVersion},
		Wrapper: report.Part{Name: "arapuca"},
	}
	needs, err := Needs(q.Binding)
	if err != nil {
		return l, err
	}
	if q.Library == "" {
		if q.Library, l.Library.Version, err = Library(ctx, q.PkgConfigPath); err != nil {
			return l, err
		}
	}
	has, err := Symbols(q.Library)
	if err != nil {
		return l, err
	}
	for _, name := range needs {
		if !has[name] {
			l.Missing = append(l.Missing, name)
		}
	}
	if len(l.Missing) > 0 && q.History != "" {
		// Without tags the sentence names no version; it stays true.
		l.Needs, _ = Since(ctx, q.History, l.Missing)
	}
	l.Wrapper.Version, err = wrapperVersion(ctx, q.Wrapper)
	return l, err
}

// Describe is what git calls the commit of a checkout, with "-dirty" where files
// differ from it; empty where git does not know the folder.
func Describe(ctx context.Context, dir string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}

// Library asks pkg-config for the file and the version of the library, as cgo will.
// An empty where is the caller's PKG_CONFIG_PATH.
func Library(ctx context.Context, where string) (path, version string, err error) {
	ask := func(flag string) (string, error) {
		cmd := exec.CommandContext(ctx, "pkg-config", flag, "arapuca")
		if where != "" {
			cmd.Env = append(os.Environ(), "PKG_CONFIG_PATH="+where)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("pkg-config %s arapuca: %w: %s; install pkg-config and arapuca (make install there), and put its lib/pkgconfig into PKG_CONFIG_PATH",
				flag, err, strings.TrimSpace(string(out)))
		}
		return strings.TrimSpace(string(out)), nil
	}
	if version, err = ask("--modversion"); err != nil {
		return "", "", err
	}
	// The variable is a custom of .pc files, and what they add to the search path is
	// dropped where it is the system's: each may be empty.
	variable, err := ask("--variable=libdir")
	if err != nil {
		return "", "", err
	}
	flags, err := ask("--libs-only-L")
	if err != nil {
		return "", "", err
	}
	dirs := append([]string{variable}, strings.Fields(strings.ReplaceAll(flags, "-L", " "))...)
	for _, dir := range dirs {
		for _, name := range []string{"libarapuca.a", "libarapuca.so"} {
			if path = filepath.Join(dir, name); dir != "" && exists(path) {
				return path, version, nil
			}
		}
	}
	return "", "", fmt.Errorf("pkg-config says that arapuca is in %q, and there is neither libarapuca.a nor libarapuca.so", dirs)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

var versionLine = regexp.MustCompile(`(?m)^arapuca v?(\d\S*)`)

// wrapperVersion runs `arapuca -V`, which answers on standard error.
func wrapperVersion(ctx context.Context, path string) (string, error) {
	if path == "" {
		found, err := exec.LookPath("arapuca")
		if err != nil {
			return "", nil //nolint:nilerr // that there is none is told by an empty version
		}
		path = found
	}
	out, err := exec.CommandContext(ctx, path, "-V").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -V: %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	match := versionLine.FindSubmatch(out)
	if match == nil {
		return "", fmt.Errorf("%s -V: %q names no version", path, strings.TrimSpace(string(out)))
	}
	return string(match[1]), nil
}
