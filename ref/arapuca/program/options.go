package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// options are those of a launch.
type options struct {
	ro, rw, env         []string
	cwd, seccomp        string
	netns, pidns        bool
	socket              string // the Unix socket behind the relay
	rules               []rule
	memory, pids, files int
	timeout             time.Duration
	command             []string

	tmp string // the library's directory for this launch
	fds int    // descriptors from 3 on that the command gets
}

// parse reads the flags of a verb: those of run are for people and are checked,
// those of launch are the library's.
func parse(verb string, args []string) (*options, error) {
	o := &options{}
	if verb == "run" {
		o.ro, o.pidns = defaultPaths(), true
	} else {
		o.env = given(os.Environ())
	}
	for len(args) > 0 {
		flag := args[0]
		switch {
		case flag == "--":
			if o.command = args[1:]; len(o.command) == 0 {
				return nil, errors.New("no command after --")
			}
			return o, nil
		case o.set(verb, flag):
			args = args[1:]
			continue
		case len(args) == 1:
			return nil, fmt.Errorf("%s: a value is missing, or -- and the command", flag)
		}
		if err := o.value(verb, flag, args[1]); err != nil {
			return nil, fmt.Errorf("%s %s: %w", flag, args[1], err)
		}
		args = args[2:]
	}
	return nil, errors.New("-- and the command are missing")
}

// set takes the flags without a value.
func (o *options) set(verb, flag string) bool {
	switch verb + " " + flag {
	case "run --no-pid-ns":
		o.pidns = false
	case "run --deny-network", "launch --netns":
		o.netns = true
	case "launch --pidns":
		o.pidns = true
	default:
		return false
	}
	return true
}

// value takes the flags with one.
func (o *options) value(verb, flag, v string) (err error) {
	switch flag {
	case "--env":
		o.env = append(o.env, v)
		return nil
	case "--cwd":
		o.cwd = v
		return nil
	case "--memory":
		o.memory, err = number(v)
		return err
	case "--pids":
		o.pids, err = number(v)
		return err
	case "--seccomp":
		if o.seccomp = v; v != "" && v != "strict" && v != "baseline" {
			return errors.New("use strict or baseline")
		}
		return nil
	}
	if verb == "launch" {
		return o.fromLibrary(flag, v)
	}
	switch flag {
	case "-v", "--volume":
		return o.volume(v)
	case "--timeout":
		seconds, err := number(v)
		o.timeout = time.Duration(seconds) * time.Second
		return err
	case "--cpus":
		_, err := number(v)
		return err
	case "--task-id":
		return nil
	case "--allow-host":
		r, err := declared(v)
		o.rules = append(o.rules, r)
		o.netns = true
		return err
	}
	return errors.New("unknown flag")
}

func (o *options) fromLibrary(flag, v string) (err error) {
	switch flag {
	case "--ro":
		o.ro = append(o.ro, v)
	case "--rw":
		o.rw = append(o.rw, v)
	case "--files":
		o.files, err = number(v)
	case "--tmp":
		o.tmp = v
	case "--fds":
		o.fds, err = strconv.Atoi(v)
	case "--proxy-socket":
		o.socket = v
	case "--allow-rule":
		var r rule
		r, err = raw(v)
		o.rules = append(o.rules, r)
		o.netns = true
	default:
		return errors.New("unknown flag")
	}
	return err
}

func (o *options) volume(v string) error {
	path, readOnly := strings.CutSuffix(v, ":ro")
	if !filepath.IsAbs(path) {
		return errors.New("the path must be absolute")
	}
	if readOnly {
		o.ro = append(o.ro, path)
	} else {
		o.rw = append(o.rw, path)
	}
	return nil
}

func number(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 {
		return 0, errors.New("a number above 0 is needed")
	}
	return n, nil
}

// defaultPaths are those that run shows without being asked.
func defaultPaths() []string {
	return []string{
		"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ssl", "/etc/pki", "/etc/ca-certificates",
		"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ld.so.cache", "/etc/localtime",
		"/etc/passwd", "/etc/group", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/proc",
	}
}

// given are the command's variables in this program's environment, where the
// library puts them: arguments are for everybody to read.
func given(environment []string) (env []string) {
	for _, kv := range environment {
		if kv, ok := strings.CutPrefix(kv, "ARAPUCA_GIVEN_"); ok {
			env = append(env, kv)
		}
	}
	return env
}

// show are the declared paths that there are; those of a tree that each sandbox
// has of its own need not be declared to it.
func show(paths []string) (there []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil || within(p, "/proc") || within(p, "/dev") || p == "/tmp" || p == "/sys" {
			continue
		}
		there = append(there, p)
	}
	return there
}

func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
