package arapuca

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// settings are those that not every version has.
type settings struct {
	seccomp string
	pidNS   bool
	files   uint64
	hosts   []rule
}

type rule struct {
	host string
	port uint16
}

// longest is that of a string for the library, in bytes.
const longest = 4096

var taskID = regexp.MustCompile(`^[A-Za-z0-9-]{1,128}$`)

// commandLine is what the program is told.
func commandLine(cfg Config, cmd string, args []string, extra int) ([]string, error) {
	s, err := settingsOf(cfg)
	if err != nil {
		return nil, err
	}
	if err := check(cfg, s); err != nil {
		return nil, err
	}
	line := []string{"--fds", strconv.Itoa(extra), "--seccomp", s.seccomp}
	add := func(flag string, values ...string) {
		for _, v := range values {
			line = append(line, flag, v)
		}
	}
	p := cfg.Profile
	add("--ro", p.ReadPaths...)
	add("--rw", p.WritePaths...)
	number := func(flag string, n uint64) {
		if n > 0 {
			add(flag, strconv.FormatUint(n, 10))
		}
	}
	number("--memory", p.MaxMemoryMB)
	number("--pids", uint64(p.MaxPIDs))
	number("--files", s.files)
	if p.UseNetNS {
		line = append(line, "--netns")
	}
	if s.pidNS {
		line = append(line, "--pidns")
	}
	if cfg.WorkDir != "" {
		add("--cwd", cfg.WorkDir)
	}
	if cfg.NetworkProxySocket != "" && len(s.hosts) == 0 {
		add("--proxy-socket", cfg.NetworkProxySocket)
	}
	for _, h := range s.hosts {
		add("--allow-rule", fmt.Sprintf("%s:%d", h.host, h.port))
	}
	line = append(line, "--", cmd)
	for _, a := range args {
		if a, err = text("argument", a); err != nil {
			return nil, err
		}
		line = append(line, a)
	}
	return line, nil
}

// givenEnv comes before the name of each of the command's variables in the
// environment of the program: arguments are for everybody to read.
const givenEnv = "ARAPUCA_GIVEN_"

// environment is the program's own, with the command's.
func environment(cfg Config) ([]string, error) {
	env := []string{behaviour.Variable + "=" + behaviour.Chosen(), "PATH=" + os.Getenv("PATH")}
	for _, name := range slices.Sorted(maps.Keys(cfg.Env)) {
		value, err := text("environment variable "+name, cfg.Env[name])
		if err != nil {
			return nil, err
		}
		env = append(env, givenEnv+name+"="+value)
	}
	return env, nil
}

// text is what reaches the program, of a string of the caller's.
func text(what, s string) (string, error) {
	if strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("arapuca: %s holds a NUL byte", what)
	}
	if len(s) > longest && behaviour.Has(behaviour.CutArguments) {
		return s[:longest], nil
	}
	return s, nil
}

func check(cfg Config, s settings) error {
	if cfg.TaskID != "" && !taskID.MatchString(cfg.TaskID) {
		return fmt.Errorf("arapuca: invalid task id %q", cfg.TaskID)
	}
	if strings.ContainsRune(cfg.NetworkProxySocket, ':') {
		return fmt.Errorf("arapuca: launch: the socket path %q holds a colon", cfg.NetworkProxySocket)
	}
	for _, p := range slices.Concat(cfg.Profile.ReadPaths, cfg.Profile.WritePaths) {
		if strings.ContainsRune(p, ':') {
			return fmt.Errorf("arapuca: launch: the path %q holds a colon", p)
		}
	}
	if cfg.NetworkProxySocket != "" && len(s.hosts) > 0 && !behaviour.Has(behaviour.BothIgnored) {
		return errors.New("arapuca: AllowedHosts and NetworkProxySocket exclude each other")
	}
	for _, h := range s.hosts {
		if !behaviour.Has(behaviour.RulesRaw) && !address(h.host) && (h.host == "" || strings.ContainsAny(h.host, "/: ")) {
			return fmt.Errorf("arapuca: add allowed host %q: not a name", h.host)
		}
		if h.port == 0 {
			return fmt.Errorf("arapuca: add allowed host %s: port 0", h.host)
		}
	}
	if cfg.WorkDir == "" {
		return nil
	}
	if info, err := os.Stat(cfg.WorkDir); !filepath.IsAbs(cfg.WorkDir) || err != nil || !info.IsDir() {
		return fmt.Errorf("arapuca: work dir %q is not an absolute path of a directory", cfg.WorkDir)
	}
	return nil
}

func address(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
