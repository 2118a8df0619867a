package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// resolve checks a Spec and turns it into what the init process is told.
func resolve(s *Spec) (*wire.Config, error) {
	if s.Level == "" {
		s.Level = Isolated
	}
	if s.Seccomp == "" {
		s.Seccomp = Baseline
	}
	if s.Cwd == "" {
		s.Cwd = "/tmp"
	}
	if err := check(s); err != nil {
		return nil, err
	}
	cfg := &wire.Config{
		Level: string(s.Level), Path: s.Path, Args: s.Args, Env: s.Env, Cwd: filepath.Clean(s.Cwd),
		Descriptors: s.Descriptors, Ports: s.Ports, Landlock: s.Landlock, Seccomp: string(s.Seccomp),
		Limits: wire.Limits(s.Limits), TTY: s.TTY,
	}
	for fd, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if s.TTY && f == nil {
			cfg.OnTerminal = append(cfg.OnTerminal, fd)
		}
	}
	if !strings.Contains(s.Path, "/") {
		cfg.Path = search(s.Path, s.Env)
	} else if !filepath.IsAbs(s.Path) {
		cfg.Path = filepath.Join(cfg.Cwd, s.Path)
	}
	if s.Limits.PIDs > 0 && hostRoot() {
		if !s.Grouped {
			return nil, NewFailure(StageLimits, errors.New("bound the processes: RLIMIT_NPROC does not hold the host's root, and there is no control group"))
		}
		cfg.Limits.PIDs = 0
	}
	v, err := look(s, cfg.Path)
	if err != nil {
		return nil, err
	}
	v.fill(cfg)
	if s.Level != SharedNone && !v.shows(cfg) {
		return nil, refuse("Cwd", "%q is not visible in the sandbox: declare it, or a directory above it", s.Cwd)
	}
	if cfg.Outside, err = ownNamespaces(); err != nil {
		return nil, NewFailure(StageInit, err)
	}
	return cfg, nil
}

func check(s *Spec) error {
	switch {
	case s.Path == "":
		return refuse("Path", "no program given: name one")
	case !slices.Contains([]Level{Isolated, SharedUserNS, SharedNone}, s.Level):
		return refuse("Level", "unknown level %q: use %s, %s or %s", s.Level, Isolated, SharedUserNS, SharedNone)
	case !slices.Contains([]Profile{Baseline, Strict, Off}, s.Seccomp):
		return refuse("Seccomp", "unknown profile %q: use %s, %s or %s", s.Seccomp, Baseline, Strict, Off)
	case !filepath.IsAbs(s.Cwd):
		return refuse("Cwd", "%q is not absolute: give the whole path", s.Cwd)
	case s.Limits.Memory < 0 || s.Limits.PIDs < 0 || s.Limits.Files < 0:
		return refuse("Limits", "a limit is below 0: use 0 for none")
	}
	for _, fd := range s.Descriptors {
		if fd < 3 {
			return refuse("Descriptors", "%d is a standard stream: use Stdin, Stdout or Stderr", fd)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			return refuse("Descriptors", "%d is not open: %v", fd, err)
		}
	}
	for i, p := range s.Ports {
		if p != 0 && slices.Contains(s.Ports[:i], p) {
			return refuse("Ports", "%d is listed twice: name each port once", p)
		}
	}
	return nil
}

// search looks a program up as a shell does; the bare name is kept, and ends as
// "not found", when no directory has it.
func search(name string, env []string) string {
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return name
}

// shows tells whether the working directory will be there.
func (v *view) shows(cfg *wire.Config) bool {
	if cfg.Cwd == "/tmp" || cfg.Cwd == "/" {
		return true
	}
	real, err := filepath.EvalSymlinks(cfg.Cwd)
	if err != nil {
		return false
	}
	_, linked := v.links[cfg.Cwd]
	return nearest(cfg.Mounts, real) != nil && (real == cfg.Cwd || linked || nearest(cfg.Mounts, cfg.Cwd) != nil)
}

// hostRoot tells whether this user may be uid 0 of the host, which the kernel
// exempts from RLIMIT_NPROC in every namespace. The map of a nested namespace
// shows its parent only, so 0 is taken for 0 all the way.
func hostRoot() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	var inside, outside int
	if err == nil {
		_, err = fmt.Sscan(string(text), &inside, &outside)
	}
	return os.Geteuid() == 0 && (err != nil || inside != 0 || outside == 0)
}

// ownNamespaces gives the inode of each of this process's namespaces.
func ownNamespaces() (map[string]uint64, error) {
	all := map[string]uint64{}
	for _, name := range []string{"user", "net", "pid", "mnt", "ipc", "uts", "cgroup"} {
		var st unix.Stat_t
		err := unix.Stat("/proc/self/ns/"+name, &st)
		if errors.Is(err, unix.ENOENT) {
			continue // the kernel has none; the init process fails on it
		}
		if err != nil {
			return nil, err
		}
		all[name] = st.Ino
	}
	return all, nil
}
