package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/suites/lab"
	"bridgecheck/suites/report"
	"bridgecheck/suites/subject"
)

// TestMain lets the tests start labs: their first process is this program.
func TestMain(m *testing.M) {
	lab.Main()
	os.Exit(m.Run())
}

// TestUnusableSubjects: what cannot be used at all ends with exit code 4 and one
// sentence, before any lab is made.
func TestUnusableSubjects(t *testing.T) {
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "subject")
		if err := writeProgram(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, says string }{
		{"missing", "/nonexistent/subject", "no such file"},
		{"not executable", plain, "not an executable file"},
		{"a folder", t.TempDir(), "not an executable file"},
		{"prints no JSON", script("echo hello"), "no valid description"},
		{"prints nothing", script(""), "no valid description"},
		{"fails", script("echo broken >&2; exit 3"), "broken"},
		{"unknown capability", script(`echo '{"protocol":1,"name":"x","versions":{},"capabilities":["teleport"],"limits":{"connections":1,"idle_seconds":1,"head_bytes":1}}'`), "teleport"},
		{"another protocol", script(`echo '{"protocol":2,"name":"x","versions":{},"capabilities":[],"limits":{"connections":1,"idle_seconds":1,"head_bytes":1}}'`), "protocol is 2"},
		{"two values", script(`echo '{"protocol":1,"name":"x","versions":{},"capabilities":[],"limits":{"connections":1,"idle_seconds":1,"head_bytes":1}} {}'`), "more than one"},
		{"floods", script("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"), "more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sub, err := findSubject(tt.path, "")
			if err == nil {
				_, err = subject.Describe(t.Context(), sub.path)
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, wanted a sentence with %q", err, tt.says)
			}
			var exit exitError
			if !errors.As(harness(err), &exit) || exit.code != report.ExitHarness {
				t.Errorf("exit code %d, wanted %d", exit.code, report.ExitHarness)
			}
		})
	}
	_, err := findSubject("refnative", "")
	if err == nil || !strings.Contains(err.Error(), "ref-native") || errors.As(err, new(exitError)) {
		t.Errorf("a misspelt name gave %v; want wrong usage", err)
	}
}

// TestHangingSubject takes as long as a subject may take to describe itself.
// What it has started ends with it.
func TestHangingSubject(t *testing.T) {
	for _, tt := range []struct{ name, then, says string }{
		{"hangs", "wait", "did not end"},
		{"leaves a process", "", "left a process behind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "subject")
			script := fmt.Sprintf("#!/bin/sh\nsleep 1000 &\necho $! >'%s.pid'\n%s\n", path, tt.then)
			if err := writeProgram(path, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := subject.Describe(t.Context(), path); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			var pid int
			if text, err := os.ReadFile(path + ".pid"); err != nil {
				t.Fatal(err)
			} else if _, err := fmt.Sscan(string(text), &pid); err != nil {
				t.Fatal(err)
			}
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return // it has ended and been reaped
			}
			defer unix.Close(fd)
			ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, err := unix.Poll(ended, 5000); err != nil || n != 1 {
				t.Errorf("process %d is still there: %v", pid, err)
			}
		})
	}
}

// writeProgram writes while nothing is forked: a child that has the file open for
// writing, until it executes its own program, makes execve(2) fail with ETXTBSY.
func writeProgram(path string, data []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, mode)
}
