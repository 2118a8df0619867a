package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/containers"
	"bridgecheck/suites/report"
)

// The cells: the same checks as an ordinary user and as root.
const (
	UserCell = "user"
	RootCell = "root"
)

// Request is one subject, the checks to run on it and where.
type Request struct {
	// Bin is the folder of bridgecheck and the fakes.
	Bin string
	// Subject is the executable under test.
	Subject string
	Select  []string
	Cells   []string
	// Tools is a folder of released programs that some checks let work; it is for
	// labs of this machine, and empty without one.
	Tools string
	// Engine is nil where the cells are labs of this machine.
	Engine *containers.Engine
	// Results is the folder that gets a folder for each cell.
	Results string
	// Shards is how many labs of a cell run at the same time.
	Shards int
	Seed   int64
	// Patience is how long a stream is watched that must not be ended; 0 is what
	// the check takes by itself.
	Patience time.Duration
}

// Run runs every cell in turn. The facts are always as many as were ordered:
// what a cell did not deliver is in them as unfinished, and the error says why.
func Run(ctx context.Context, q Request, stdout, stderr io.Writer) ([]report.Facts, error) {
	netns, err := hostNetNS()
	if err != nil {
		return nil, err
	}
	var all []report.Facts
	var errs []error
	for _, name := range q.Cells {
		cell := report.Cell{Name: name, Engine: "none", Privilege: "namespace", Kernel: kernel()}
		shards := divide(q.Select, q.Shards)
		dir := filepath.Join(q.Results, "cell-"+name)
		if err := fresh(dir); err != nil {
			return nil, err
		}
		o := CellOrder{Cell: cell, Shards: shards, Out: dir, HostNetNS: netns, Seed: q.Seed, Patience: q.Patience, Programs: q.programs()}
		if q.Engine != nil {
			err = runContainer(ctx, *q.Engine, &o, stdout, stderr)
		} else {
			err = RunCell(ctx, o, false, stdout, stderr)
		}
		if err != nil {
			errs = append(errs, err)
		}
		all = append(all, readFacts(dir, o.Cell, shards)...)
	}
	return all, errors.Join(errs...)
}

// tools is the name of the folder among the programs.
const tools = "tools"

// companion is the name of the program beside a subject that uses the library
// below it: the subject's file with -ara.
const companion = "companion"

// wrapper is the name of the program that a library below a subject runs, and
// looks for beside the subject.
const wrapper = "arapuca"

func (q Request) programs() map[string]string {
	programs := map[string]string{"subject": q.Subject}
	if beside := q.Subject + "-ara"; isFile(beside) {
		programs[companion] = beside
	}
	if beside := filepath.Join(filepath.Dir(q.Subject), wrapper); isFile(beside) {
		programs[wrapper] = beside
	}
	for _, name := range []string{"bridgecheck", "probe", "fakemcp", "knob"} {
		programs[name] = filepath.Join(q.Bin, name)
	}
	if q.Tools != "" && q.Engine == nil {
		programs[tools] = q.Tools
	}
	return programs
}

// runContainer runs a cell as the only process of a container; the programs
// and the order travel in its image and environment.
func runContainer(ctx context.Context, engine containers.Engine, o *CellOrder, stdout, stderr io.Writer) error {
	inside := *o
	inside.Out = "/results"
	inside.Cell.Engine = strings.TrimSpace(engine.Name + " " + engine.Version)
	inside.Programs = map[string]string{}
	files := map[string]containers.HostFile{}
	for name, path := range o.Programs {
		inside.Programs[name] = inCell(name)
		files[inCell(name)] = containers.HostFile{Path: path, Mode: 0o755}
	}
	raw, err := json.Marshal(inside)
	if err != nil {
		return fmt.Errorf("cell %s: %w", o.Cell.Name, err)
	}
	res, err := containers.Run(ctx, engine, containers.Cell{
		Name: o.Cell.Name, Files: files, Entrypoint: []string{inCell("bridgecheck"), "cell"},
		Env: map[string]string{OrderEnv: string(raw)}, Results: "/results", Out: o.Out,
	}, stdout, stderr)
	o.Cell.Engine, o.Cell.Privilege = inside.Cell.Engine, res.Privilege
	if err != nil {
		return fmt.Errorf("cell %s: %w", o.Cell.Name, err)
	}
	if res.ExitCode != 0 {
		return fmt.Errorf("cell %s: the container ended with code %d", o.Cell.Name, res.ExitCode)
	}
	return nil
}

// divide deals the checks out to at most n shards; rows of one check stay
// together, so that each shard judges whole checks.
func divide(ids []string, n int) [][]string {
	of := map[string]int{}
	shards := make([][]string, max(1, n))
	for _, id := range ids {
		check, _, _ := strings.Cut(id, ".")
		i, seen := of[check]
		if !seen {
			i = len(of) % len(shards)
			of[check] = i
		}
		shards[i] = append(shards[i], id)
	}
	return shards[:max(1, min(len(of), len(shards)))]
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func fresh(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("results: remove the last run: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

func hostNetNS() (uint64, error) {
	info, err := os.Stat("/proc/self/ns/net")
	if err != nil {
		return 0, fmt.Errorf("find this machine's network namespace: %w", err)
	}
	return info.Sys().(*syscall.Stat_t).Ino, nil
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// inCell is where a program lies in a container: below the folder that the lab
// covers, so that the image has that folder.
func inCell(program string) string { return "/mnt/cell/" + program }
