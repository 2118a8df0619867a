package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gatewaysVerb compares the bridge with other gateways of the same kind.
const gatewaysVerb = "gateways"

// badServers are flags of fakemcp, and the tool that is called.
var badServers = []struct {
	title   string
	flags   []string
	tool    string
	onStdio bool
}{
	{"that never answers", []string{"--mute"}, "echo", false},
	{"with 100 lines of no JSON first", []string{"--garbage", "100"}, "echo", true},
	{"with such lines without end", []string{"--garbage-forever"}, "echo", true},
	{"with 1 MiB on stderr first", []string{"--stderr-bytes", "1048576"}, "echo", true},
	{"that dies in mid-call", nil, "die", false},
	{"that dies at start", []string{"--die-at-start", "3"}, "echo", false},
}

// directions are what a server sends its client by itself, and the scenario of
// the suite that shows it.
var directions = []struct{ title, scenario string }{
	{"sampling", "tools-call-sampling"},
	{"elicitation", "tools-call-elicitation"},
	{"logging", "tools-call-with-logging"},
	{"progress", "tools-call-with-progress"},
}

// The sizes of what is measured.
const (
	rounds       = 3
	callsARound  = 300
	manySessions = 20
)

// finding is one column of the table.
type finding struct {
	scenarios []string // by suite
	kept      []string
	p50, p99  []int64 // microseconds, by round
	mib       float64 // a session
	bad       []string
}

// compareGateways measures all and writes the table. Calls are timed in turns, so
// that the machine's other work meets all alike.
func compareGateways(ctx context.Context, tools tools, results string) error {
	dir := filepath.Join(results, "gateways")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	found := make([]finding, len(gateways))
	for range rounds {
		for i, g := range gateways {
			if err := found[i].time(ctx, tools, dir, self, g); err != nil {
				return fmt.Errorf("%s: time calls: %w", g.name, err)
			}
		}
	}
	for i, g := range gateways {
		fmt.Fprintln(os.Stderr, g.name)
		f := &found[i]
		if f.mib, err = perSession(ctx, tools, dir, self, g); err != nil {
			return fmt.Errorf("%s: memory: %w", g.name, err)
		}
		for _, b := range badServers {
			if g.carries != nil && b.onStdio {
				f.bad = append(f.bad, "has no stdio")
				continue
			}
			f.bad = append(f.bad, behaviour(ctx, tools, dir, self, g, b.flags, b.tool))
		}
		if err := f.conform(ctx, tools, dir, g); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	text := gatewayTable(found)
	fmt.Print(text)
	return os.WriteFile(filepath.Join(results, "gateways.md"), []byte(text), 0o600)
}

func (t tools) fake(flags ...string) []string {
	return append([]string{filepath.Join(t.build, "fakemcp")}, flags...)
}

func (f *finding) time(ctx context.Context, tools tools, dir, self string, g gateway) error {
	out, err := output(ctx, tools, dir, g, tools.fake(), self, callsVerb, "{url}", fmt.Sprint(callsARound))
	if err != nil {
		return err
	}
	var p50, p99 int64
	if _, err := fmt.Sscan(out, &p50, &p99); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	f.p50, f.p99 = append(f.p50, p50), append(f.p99, p99)
	return nil
}

// output runs a program with the gateway's URL to its end.
func output(ctx context.Context, tools tools, dir string, g gateway, server []string, program ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	s, err := g.start(ctx, tools, dir, server, program)
	if err != nil {
		return "", err
	}
	defer s.stop()
	var stderr bytes.Buffer
	s.program.Stderr = &stderr
	out, err := s.program.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, &stderr)
	}
	return string(out), err
}

// behaviour is what a client of the bad server learns.
func behaviour(ctx context.Context, tools tools, dir, self string, g gateway, flags []string, tool string) string {
	begin := time.Now()
	out, err := output(ctx, tools, dir, g, tools.fake(flags...), self, badVerb, "{url}", tool)
	if err == nil {
		return strings.TrimSpace(out)
	}
	took := time.Since(begin).Round(100 * time.Millisecond)
	for line := range strings.Lines(err.Error()) {
		if _, cause, ok := strings.Cut(line, "refbridge: start server "); ok {
			_, cause, _ = strings.Cut(cause, "): ")
			cause, _, _ = strings.Cut(cause, ";") // the server's last lines follow
			return fmt.Sprintf("the start is refused: %s, after %v", strings.TrimSpace(cause), took)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("nothing listens within %v", took)
	}
	return fmt.Sprintf("the gateway is gone after %v: %v", took, strings.ReplaceAll(err.Error(), "\n", " "))
}

// perSession is the growth of memory by a session, server included, in MiB.
func perSession(ctx context.Context, tools tools, dir, self string, g gateway) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, err := g.start(ctx, tools, dir, tools.fake(), []string{self, sessionsVerb, "{url}", fmt.Sprint(manySessions)})
	if err != nil {
		return 0, err
	}
	defer s.stop()
	in, err := s.program.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := s.program.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := s.program.Start(); err != nil {
		return 0, err
	}
	root := s.root
	if root == 0 {
		root = s.program.Process.Pid
	}
	lines := bufio.NewReader(out)
	var kib []int
	for range 2 {
		if _, err := lines.ReadString('\n'); err != nil {
			return 0, errors.Join(err, s.program.Wait())
		}
		kib = append(kib, memory(root, self))
		fmt.Fprintln(in)
	}
	return float64(kib[1]-kib[0]) / manySessions / 1024, s.program.Wait()
}

// conform runs the official suite against the go-sdk's server behind it.
func (f *finding) conform(ctx context.Context, tools tools, dir string, g gateway) error {
	for i, s := range suites {
		folder := filepath.Join(dir, strings.ReplaceAll(g.name, " ", "-"), filepath.FromSlash(s.name))
		if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700)); err != nil {
			return err
		}
		args := append([]string{"server", "--url", "{url}", "--output-dir", folder}, s.args...)
		program := append([]string{tools.node}, tools.suite(s, args...)...)
		ctx, cancel := context.WithTimeout(ctx, limit)
		session, err := g.start(ctx, tools, folder, []string{tools.server}, program)
		if err != nil {
			cancel()
			return err
		}
		_, _ = session.program.CombinedOutput() // the suite fails where a scenario does
		session.stop()
		cancel()
		all, err := readOutcomes(folder)
		if err != nil {
			return err
		}
		passed, ran := all.tally()
		f.scenarios = append(f.scenarios, fmt.Sprintf("%d/%d", passed, ran))
		for _, d := range directions {
			if i == 0 && slices.Contains(all[d.scenario+"/"+d.scenario], "SUCCESS") {
				f.kept = append(f.kept, d.title)
			}
		}
	}
	return nil
}

func gatewayTable(found []finding) string {
	var b strings.Builder
	line := func(title string, cell func(finding) string) {
		fmt.Fprintf(&b, "| %s |", title)
		for _, f := range found {
			fmt.Fprintf(&b, " %s |", strings.ReplaceAll(cell(f), "|", "\\|"))
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprint(&b, "| measured |")
	for _, g := range gateways {
		fmt.Fprintf(&b, " %s |", g.name)
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---|", len(gateways)))
	for i, s := range suites {
		line("scenarios passed, "+s.name, func(f finding) string { return f.scenarios[i] })
	}
	line("server to client", func(f finding) string { return strings.Join(f.kept, ", ") })
	line("a call, p50", func(f finding) string { return fmt.Sprintf("%.2f ms", float64(slices.Min(f.p50))/1000) })
	line("a call, p99", func(f finding) string { return fmt.Sprintf("%.2f ms", float64(slices.Min(f.p99))/1000) })
	line("memory a session, server included", func(f finding) string { return fmt.Sprintf("%.1f MiB", f.mib) })
	for i, bad := range badServers {
		line("a server "+bad.title, func(f finding) string { return f.bad[i] })
	}
	fmt.Fprintf(&b, "\nThe best of %d rounds of %d calls each, in turns; %d sessions. The client of refbridge is in the sandbox, "+
		"the others' beside them. mcp-proxy has one server for all sessions, the others one for each. mcp-remote carries the stdio of "+
		"its client to a server on HTTP, the other way round: it is what refbridge starts, one a session, and the server behind it is one for all.\n",
		rounds, callsARound, manySessions)
	return b.String()
}
