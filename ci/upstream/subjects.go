package upstream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"bridgecheck/ci/link"
	"bridgecheck/suites/report"
)

// Build is what subjects are built of.
type Build struct {
	// Repository is the root of this repository; its nested module has the
	// subjects, and go-arapuca is replaced in a copy of its go.mod.
	Repository string
	// Binding is a folder with go-arapuca, BindingVersion what to call it.
	Binding, BindingVersion string
	// Prefix is where arapuca was installed; empty is what pkg-config finds.
	Prefix string
	// History is a git checkout of arapuca with its tags; empty for none.
	History string
	// Names are those to build, of [Subjects].
	Names []string
	// Log gets what the toolchain prints.
	Log io.Writer
}

// Subjects are those there are over go-arapuca. With a double in its place they are
// called so, and say so.
var Subjects = []string{"ref-arapuca", "ref-arapuca-hosts"}

const (
	nested   = "ref/arapuca"
	binding  = "github.com/LeGambiArt/go-arapuca"
	launcher = "bridgecheck/ref/arapuca/launcher"
)

// ErrToolchain says that something is not installed.
var ErrToolchain = errors.New("a tool is missing")

// Subjects checks that the binding fits the library, and builds the subjects into
// out. The link verdict is written there in any case;
// when it is not OK nothing is built. A binding without cgo is a double: it has no
// library to fit, and the link verdict is nil.
func (b Build) Subjects(ctx context.Context, out string) (*report.Link, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("folder for the subjects: %w", err)
	}
	isDouble, err := double(b.Binding)
	if err != nil {
		return nil, err
	}
	if isDouble {
		return nil, b.compileAll(ctx, out, "-double", native{env: []string{"CGO_ENABLED=0"}})
	}
	l, err := b.check(ctx)
	if err != nil {
		return nil, err
	}
	if err := report.WriteLink(out, l); err != nil || !l.OK() {
		return &l, err
	}
	library, err := b.native(ctx)
	if err != nil {
		return &l, err
	}
	if err := b.compileAll(ctx, out, "", library); err != nil {
		return &l, err
	}
	return &l, b.copyWrapper(out)
}

// double tells whether a folder holds a double of go-arapuca: Go without C.
func double(dir string) (bool, error) {
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(sources) == 0 {
		return false, fmt.Errorf("there is no Go package in %s; name the folder of go-arapuca", dir)
	}
	for _, path := range sources {
		data, err := os.ReadFile(path)
		if err != nil {
			return false, fmt.Errorf("read go-arapuca: %w", err)
		}
		if strings.Contains(string(data), `import "C"`) {
			return false, nil
		}
	}
	return true, nil
}

func (b Build) check(ctx context.Context) (report.Link, error) {
	q := link.Request{Binding: b.Binding, BindingVersion: b.BindingVersion, History: b.History, PkgConfigPath: b.pkgConfigPath()}
	if b.Prefix != "" {
		q.Wrapper = filepath.Join(b.Prefix, "bin", "arapuca")
	}
	return link.Check(ctx, q)
}

func (b Build) pkgConfigPath() string {
	if b.Prefix == "" {
		return os.Getenv("PKG_CONFIG_PATH")
	}
	return filepath.Join(b.Prefix, "lib", "pkgconfig") + ":" + filepath.Join(b.Prefix, "lib64", "pkgconfig")
}

// compileAll builds the subjects, and beside each the program that asks go-arapuca
// itself.
func (b Build) compileAll(ctx context.Context, out, suffix string, library native) error {
	ask := filepath.Join(out, "ara")
	if err := b.compile(ctx, "./cmd/ara"+suffix, ask, library); err != nil {
		return err
	}
	for _, name := range b.Names {
		if err := b.compile(ctx, "./cmd/"+name+suffix, filepath.Join(out, name), library); err != nil {
			return err
		}
		if err := copyFile(ask, filepath.Join(out, name+"-ara")); err != nil {
			return fmt.Errorf("copy the program that asks go-arapuca: %w", err)
		}
	}
	return nil
}

// compile builds one command with go-arapuca replaced by the binding.
func (b Build) compile(ctx context.Context, command, out string, library native) error {
	dir, err := filepath.Abs(b.Binding)
	if err != nil {
		return fmt.Errorf("go-arapuca: %w", err)
	}
	temporary, err := os.MkdirTemp("", "bridgecheck-mod-*")
	if err != nil {
		return fmt.Errorf("copy go.mod: %w", err)
	}
	defer os.RemoveAll(temporary)
	module := filepath.Join(temporary, "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(filepath.Join(b.Repository, nested, name), filepath.Join(temporary, name)); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	if err := b.run(ctx, library.env, "go", "mod", "edit", "-replace="+binding+"="+dir, module); err != nil {
		return err
	}
	version := b.BindingVersion
	if version == "" {
		version = "checkout"
	}
	if out, err = filepath.Abs(out); err != nil {
		return fmt.Errorf("build %s: %w", command, err)
	}
	return b.run(ctx, library.env, "go", "build", "-C", filepath.Join(b.Repository, nested), "-modfile", module, "-mod=mod", "-trimpath", "-buildvcs=false",
		"-ldflags", "-X "+launcher+".BindingVersion="+version+" -X "+launcher+".LibraryVersion="+library.version+" -X main.library="+library.digest, "-o", out, command)
}

// native is the library as the toolchain is told of it.
type native struct {
	env             []string
	version, digest string
}

// native makes builds differ by the library. To the build cache of Go one that has
// been replaced, or lies elsewhere, is the same: it knows neither what pkg-config
// says nor what is in the files. So its place and its digest go into the flags, of
// the compiler and of the linker, which the cache does look at.
func (b Build) native(ctx context.Context) (native, error) {
	path, version, err := link.Library(ctx, b.pkgConfigPath())
	if err != nil {
		return native{}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return native{}, fmt.Errorf("read the library: %w", err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(data))
	flags := func(name, more string) string {
		own := os.Getenv(name)
		if own == "" {
			own = "-O2 -g" // the toolchain's own
		}
		return name + "=" + own + " " + more
	}
	return native{version: version, digest: digest, env: []string{
		"CGO_ENABLED=1",
		flags("CGO_CFLAGS", "-DBRIDGECHECK_LIBRARY=0x"+digest[:15]),
		flags("CGO_LDFLAGS", "-L"+filepath.Dir(path)),
	}}, nil
}

func (b Build) run(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(append(os.Environ(), "PKG_CONFIG_PATH="+b.pkgConfigPath(), "GOWORK=off"), env...)
	cmd.Stdout, cmd.Stderr = b.Log, b.Log
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w: %s; install Go 1.26, and gcc and pkg-config for cgo", ErrToolchain, name)
	case err != nil:
		return fmt.Errorf("%s %s: %w; its output is above", name, args[0], err)
	}
	return nil
}

// copyWrapper puts the program arapuca beside the subjects, where the library
// looks for it first: a lab has neither a home folder nor the caller's PATH. Without
// one nothing is copied, and the subject says what it misses.
func (b Build) copyWrapper(out string) error {
	path := filepath.Join(b.Prefix, "bin", "arapuca")
	if b.Prefix == "" {
		found, err := exec.LookPath("arapuca")
		if err != nil {
			return nil //nolint:nilerr // that there is none is for the subject to say
		}
		path = found
	}
	if err := copyFile(path, filepath.Join(out, "arapuca")); err != nil {
		return fmt.Errorf("copy the program arapuca: %w", err)
	}
	return nil
}

// Library builds arapuca and installs it into prefix, by the script that images
// are built by too.
func Library(ctx context.Context, repository, source, prefix string, log io.Writer) error {
	script := filepath.Join(repository, "containers", "images", "arapuca", "library.sh")
	cmd := exec.CommandContext(ctx, "sh", script, source, prefix)
	cmd.Stdout, cmd.Stderr = log, log
	err := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == report.ExitHost {
		return fmt.Errorf("build arapuca: %w; the list is above", ErrToolchain)
	}
	if err != nil {
		return fmt.Errorf("build arapuca of %s: %w; its output is above", source, err)
	}
	return nil
}
