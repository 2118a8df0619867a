package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bridgecheck/ref/sandbox/internal/wire"
)

// SystemPaths are visible in every sandbox, read-only, where the host has them:
// programs and libraries, and of /etc only the files that programs need to
// start, find names of users, and trust certificates. /etc as a whole is never
// shown: a sandbox of uid 0 could read /etc/shadow and private keys.
var SystemPaths = []string{
	"/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr",
	"/etc/alternatives", "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/ca-certificates.conf",
	"/etc/debian_version", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/inputrc",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime",
	"/etc/magic", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd",
	"/etc/pki/ca-trust/extracted", "/etc/pki/tls/cert.pem", "/etc/pki/tls/certs", "/etc/profile",
	"/etc/protocols", "/etc/services", "/etc/shells", "/etc/ssl/cert.pem", "/etc/ssl/certs",
	"/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone", "/var/lib/ca-certificates",
	"/nix/store", "/gnu/store",
}

// sharedPaths are added where the network, and with it the resolver, is the
// host's.
var sharedPaths = []string{"/etc/resolv.conf"}

// private are the trees that every sandbox has of its own.
var private = []string{"/proc", "/dev"}

// view is what the new root holds.
type view struct {
	mounts map[string]wire.Mount
	links  map[string]string
}

// look resolves the declared paths of a Spec, and those everyone gets.
func look(s *Spec, program string) (*view, error) {
	v := &view{mounts: map[string]wire.Mount{}, links: map[string]string{}}
	system := SystemPaths
	if s.Level != Isolated {
		system = append(slices.Clip(system), sharedPaths...)
	}
	for _, p := range system {
		if err := v.add(p, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, p := range s.RO {
		if err := v.declare("RO", p, s); err != nil {
			return nil, err
		}
	}
	for _, p := range s.RW {
		if err := v.declare("RW", p, s); err != nil {
			return nil, err
		}
	}
	for _, d := range s.Sockets {
		if err := v.connect(d); err != nil {
			return nil, err
		}
	}
	return v, v.addProgram(program)
}

// addProgram shows the program itself, unless a declared directory does. One
// that cannot be reached ends the sandbox with 126 or 127, as in a shell; it is
// no failure of the launch.
func (v *view) addProgram(p string) error {
	real, regular := regularFile(p)
	if !regular {
		return nil // a directory would show all that is in it
	}
	for _, m := range v.mounts {
		if m.Dir && within(real, m.Path) {
			if real != filepath.Clean(p) {
				v.links[filepath.Clean(p)] = real
			}
			return nil
		}
	}
	return v.add(p, false)
}

// regularFile gives the real path of a file that can be reached.
func regularFile(p string) (real string, regular bool) {
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(real)
	return real, err == nil && info.Mode().IsRegular()
}

func (v *view) declare(field, p string, s *Spec) error {
	if !filepath.IsAbs(p) {
		return refuse(field, "%q is not absolute: give the whole path", p)
	}
	clean := filepath.Clean(p)
	if err := reserved(field, p, clean, s.Level); err != nil {
		return err
	}
	real, through, err := trail(clean)
	if err != nil {
		return refuse(field, "%q: %v: create it, or leave it out", p, err)
	}
	if err := reserved(field, p, real, s.Level); err != nil {
		return err
	}
	if field == "RW" {
		for _, r := range s.RO {
			if same(real, r) {
				return refuse(field, "%q is declared read-only as well, as %q: choose one", p, r)
			}
		}
	}
	// An earlier agent may have put a link into a directory it can write to.
	for _, w := range s.RW {
		above, err := filepath.EvalSymlinks(w)
		if err == nil && slices.ContainsFunc(through, func(dir string) bool { return within(dir, above) }) {
			return refuse(field, "%q leads through a symbolic link in the writable %q to %q: declare that, if it is meant", p, w, real)
		}
	}
	return v.add(clean, field == "RW")
}

// reserved refuses what cannot be shown, by the name given or where that leads.
func reserved(field, given, p string, level Level) error {
	switch {
	case p == "/":
		return refuse(field, "%q is the whole root, which cannot be shown: declare the directories that the agent needs", given)
	case level != SharedNone && slices.ContainsFunc(private, func(t string) bool { return within(p, t) }):
		return refuse(field, "%q lies in a tree that each sandbox has of its own: leave it out", given)
	}
	return nil
}

// same tells whether two paths are one file or directory: by links, by .., by a
// bind mount, or by a hard link.
func same(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(filepath.Clean(b))
	return err == nil && os.SameFile(left, right)
}

// add shows a path: the real one by a mount, and the given one by a link where
// it differs.
func (v *view) add(p string, write bool) error {
	p = filepath.Clean(p)
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	if real != p {
		v.links[p] = real
	}
	v.mounts[real] = wire.Mount{Path: real, Source: real, Dir: info.IsDir(), Write: write || v.mounts[real].Write}
	return nil
}

// connect shows a directory of sockets, at a path of the sandbox's own: what is
// of the host may not be written to for a mount point, nor be hidden.
func (v *view) connect(d Sockets) error {
	for _, m := range v.mounts {
		if within(d.At, m.Path) || within(m.Path, d.At) {
			return refuse("Sockets", "%q is where the sockets go: leave %q out", d.At, m.Path)
		}
	}
	for link := range v.links {
		if within(d.At, link) {
			return refuse("Sockets", "%q is where the sockets go: leave %q out", d.At, link)
		}
	}
	v.mounts[d.At] = wire.Mount{Path: d.At, Source: d.Dir, Dir: true, Connect: true}
	return nil
}

// fill writes the view into a configuration, parents before what is in them,
// and without mounts that one above already makes.
func (v *view) fill(cfg *wire.Config) {
	for _, m := range v.mounts {
		cfg.Mounts = append(cfg.Mounts, m)
	}
	slices.SortFunc(cfg.Mounts, func(a, b wire.Mount) int { return strings.Compare(a.Path, b.Path) })
	var kept []wire.Mount
	for _, m := range cfg.Mounts {
		above := nearest(kept, m.Path)
		if above == nil || above.Write != m.Write {
			kept = append(kept, m)
		}
	}
	cfg.Mounts = kept
	for p, target := range v.links {
		cfg.Links = append(cfg.Links, wire.Link{Path: p, Target: target})
	}
	slices.SortFunc(cfg.Links, func(a, b wire.Link) int { return strings.Compare(a.Path, b.Path) })
}

// nearest is the innermost mount that holds the path.
func nearest(mounts []wire.Mount, p string) *wire.Mount {
	for i := len(mounts) - 1; i >= 0; i-- {
		if mounts[i].Dir && within(p, mounts[i].Path) {
			return &mounts[i]
		}
	}
	return nil
}

// within tells whether p is dir or lies in it, by name.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
