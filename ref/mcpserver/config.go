package mcpserver

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"bridgecheck/ref/mcpserver/contain"
)

// The defaults of [Config].
const (
	DefaultStartTimeout = 30 * time.Second
	DefaultStopGrace    = 2 * time.Second
)

// Config describes one server. Either Command or URL is set.
type Config struct {
	// Command is looked up in the server's own PATH; with a slash it is a path,
	// relative to Dir.
	Command string
	Args    []string
	// Env is added to the variables of the caller's named in [BaseEnv].
	Env map[string]string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// URL is where a server listens that speaks HTTP itself:
	// http://127.0.0.1:PORT/PATH, or unix:/PATH for HTTP at /mcp on a Unix socket.
	// The name localhost stands for both loopback addresses and is not resolved.
	URL string
	// Hosts are names and addresses, without port, by which clients reach the
	// server besides the loopback ones, NAME and NAME.mcp.internal.
	Hosts []string
	// Containment is contain.Namespace, contain.ProcessGroup, or empty for the
	// stronger that can be had.
	Containment string
	// StartTimeout bounds the time to the first answer; 0 is [DefaultStartTimeout].
	StartTimeout time.Duration
	// StopGrace bounds each of the two steps before SIGKILL; 0 is [DefaultStopGrace].
	StopGrace time.Duration
	// MessageBytes bounds one message each way; 0 is stdio.DefaultMessageBytes.
	MessageBytes int
	// GarbageLines is how many lines of output in a row may be no message; 0 is
	// stdio.DefaultGarbageLines.
	GarbageLines int
	// Sessions, Idle and Detached bound the sessions; see adapter.Options.
	Sessions       int
	Idle, Detached time.Duration
}

// BaseEnv names the variables a server gets from the caller: where programs,
// files and certificates are, language, and the way out. Secrets that happen to
// be in the caller's environment are not among them; Config.Env names those.
var BaseEnv = []string{
	"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// nameRule keeps a name usable as a file name, a host name and a path segment.
var nameRule = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

func (c Config) validate(name string) error {
	switch {
	case !nameRule.MatchString(name):
		return fmt.Errorf("server name %q: use 1 to 63 letters, digits, '.', '_' and '-', a letter or digit first and last", name)
	case c.Command == "" && c.URL == "":
		return fmt.Errorf("server %q: neither command nor url is given", name)
	case c.Command != "" && c.URL != "":
		return fmt.Errorf("server %q: both command and url are given; a server with a url is not started", name)
	case !slices.Contains([]string{"", contain.Namespace, contain.ProcessGroup}, c.Containment):
		return fmt.Errorf("server %q: containment %q is unknown; use %s or %s", name, c.Containment, contain.Namespace, contain.ProcessGroup)
	case c.URL != "":
		if _, err := parseURL(c.URL); err != nil {
			return fmt.Errorf("server %q: %w", name, err)
		}
	}
	for key := range c.Env {
		if key == "" || strings.ContainsAny(key, "=\x00") {
			return fmt.Errorf("server %q: environment name %q is not one", name, key)
		}
	}
	return nil
}

// parseURL returns the URL of a server that speaks HTTP, and for a Unix socket
// its path in the host part.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("url: only host, port and path are sent; remove user, query and fragment")
	case u.Scheme == "unix" && filepath.IsAbs(u.Path):
		return &url.URL{Scheme: "unix", Host: u.Path, Path: "/mcp"}, nil
	case u.Scheme == "http" && u.Host != "", u.Scheme == "https" && u.Host != "":
		return u, nil
	}
	return nil, errors.New("url: use http://HOST:PORT/PATH or unix:/PATH") // it may hold a password, and is not shown
}

func (c Config) withDefaults() Config {
	if c.StartTimeout <= 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	if c.StopGrace <= 0 {
		c.StopGrace = DefaultStopGrace
	}
	return c
}

// environ is the server's whole environment, sorted.
func (c Config) environ() []string {
	env := map[string]string{}
	for _, key := range BaseEnv {
		if v, ok := os.LookupEnv(key); ok {
			env[key] = v
		}
	}
	maps.Copy(env, c.Env)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(env)) {
		out = append(out, key+"="+env[key])
	}
	return out
}

// lookPath finds the program as a shell in the server's environment would.
func (c Config) lookPath(env []string) (string, error) {
	if strings.Contains(c.Command, "/") {
		return c.Command, nil
	}
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a program from the working directory is not meant
		}
		file := filepath.Join(dir, c.Command)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%q: %w (PATH of the server is %q)", c.Command, exec.ErrNotFound, path)
}
