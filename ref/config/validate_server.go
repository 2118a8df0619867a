package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/egress"
)

// serverName keeps names fit for a file name, a URL path and a label.
var serverName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

func (v *validator) server(field string, s Server) {
	if !serverName.MatchString(s.Name) {
		v.at(field+".name", fmt.Sprintf("%q is no server name", s.Name), "use 1 to 63 letters, digits, dots, dashes and underscores, the first and last a letter or digit")
	}
	v.word(field+".kind", s.Kind, "stdio", "http", "unix")
	v.word(field+".placement", s.Placement, placements...)
	v.word(field+".containment", s.Containment, containments...)
	v.words(field+".transports", s.Transports, transports...)
	v.environment(field+".env", s.Env)
	v.rules(field+".allowed_hosts", s.AllowedHosts)
	v.hosts(field, s)
	v.start(field, s)
	for i, name := range s.Authorities() {
		if _, err := egress.ParseAuthority(name); err != nil && serverName.MatchString(s.Name) {
			v.at(fmt.Sprintf("%s.names[%d]", field, i), err.Error(), "write host:port, as in jira.mcp.internal:80")
		}
	}
}

func (v *validator) hosts(field string, s Server) {
	switch {
	case s.OnHost() && len(s.AllowedHosts) > 0:
		v.at(field+".allowed_hosts", "a server placed on the host has the host's network, which no rule narrows",
			"remove allowed_hosts, or write placement: sandbox")
	case s.AllowedHosts != nil && len(s.AllowedHosts) == 0:
		v.at(field+".allowed_hosts", "an empty list could mean no network or any",
			"name the hosts, or leave it out: the phase then shares the host's network")
	}
}

// start checks what is needed to start the server, or to find it.
func (v *validator) start(field string, s Server) {
	if s.Placement == "sandbox" && s.Listens() {
		v.at(field+".placement", "a server with a url listens on the host", "write placement: host, or leave it out")
	}
	switch s.Kind {
	case "", "stdio":
		v.command(field, s)
		if s.URL != "" {
			v.at(field+".url", "a stdio server has no URL", "remove url, or write kind: http")
		}
	case "http":
		v.noCommand(field, s)
		if !isLoopbackHTTP(s.URL) {
			v.at(field+".url", "not the URL of a server on this host", "write http://127.0.0.1:PORT/PATH or http://localhost:PORT/PATH")
		} else if u, err := url.Parse(s.URL); err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			v.at(field+".url", "holds more than host, port and path, and nothing else would be sent", "remove user, query and fragment")
		}
	case "unix":
		v.noCommand(field, s)
		if !strings.HasPrefix(s.URL, "unix:/") {
			v.at(field+".url", "not the path of a Unix socket", "write unix:/PATH")
		}
	}
}

func (v *validator) command(field string, s Server) {
	if s.Command == "" {
		v.at(field+".command", "no program is named", "give the command that starts the server")
		return
	}
	if !s.OnHost() {
		return // the agent starts it, from the files of the sandbox
	}
	path := os.Getenv("PATH")
	if own, ok := s.Env["PATH"]; ok {
		path = own
	}
	err := runnable(s.Command, path)
	if first, _, more := strings.Cut(s.Command, " "); err != nil && more {
		// Not shown whole: the rest may be a secret.
		v.at(field+".command", fmt.Sprintf("%q and more is no program", first), "put what follows the program's name into args")
		return
	}
	if err != nil {
		v.at(field+".command", fmt.Sprintf("cannot run %q: %v", s.Command, err), "install it, or give its full path")
	}
}

// runnable looks for a program as the server's own environment would. A PATH
// entry that is not absolute is not followed.
func runnable(command, path string) error {
	if strings.Contains(command, "/") {
		return executable(command)
	}
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && executable(filepath.Join(dir, command)) == nil {
			return nil
		}
	}
	return errors.New("not found in PATH")
}

func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file")
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory")
	}
	return unix.Access(file, unix.X_OK)
}

func (v *validator) noCommand(field string, s Server) {
	if s.Command != "" || len(s.Args) > 0 {
		v.at(field+".command", "a server with a url is started by somebody else", "remove command and args, or url")
	}
}

func (v *validator) environment(field string, env map[string]string) {
	for key, value := range env {
		if key == "" || strings.ContainsAny(key, "=\x00") {
			v.at(field, fmt.Sprintf("%q is no name of a variable", below("", key)), "use letters, digits and underscores, and write NAME: value")
		}
		if strings.ContainsRune(value, 0) {
			v.at(field+"."+key, "the value holds a NUL byte", "remove it")
		}
	}
}

func isHTTP(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// isLoopbackHTTP takes a loopback address, or localhost, which is dialled there
// and nowhere else.
func isLoopbackHTTP(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" {
		return false
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
		return false
	}
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.IsLoopback()
}
