package ref

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"bridgecheck/ref/config"
	"bridgecheck/ref/plan"
	"bridgecheck/ref/sandbox"
)

// launch makes the sandbox; its agent waits.
func (p *phase) launch(ctx context.Context) error {
	a := p.spec.Agent
	if err := sandbox.CheckEnvironment(a.Env); err != nil {
		return inSpec(err)
	}
	s := sandbox.Spec{
		Path: a.Path, Args: a.Args, Env: p.environment(), Cwd: a.Cwd,
		Stdin: p.opt.Stdin, Stdout: p.opt.Stdout, Stderr: p.opt.Stderr,
		Level: sandbox.Level(p.plan.Level), Ports: p.ports(),
		Landlock: p.plan.Layers["landlock"] == "on", Seccomp: profile(p.spec.Seccomp, p.plan.Layers["seccomp"] == "on"),
		Descriptors: p.spec.Descriptors,
	}
	if paths := p.spec.Paths; paths != nil {
		s.RO, s.RW = paths.RO, paths.RW
	}
	sockets, programs := p.sockets()
	s.Sockets = sockets
	for _, program := range programs {
		if !slices.Contains(s.RW, program) { // where it is shown as it is
			s.RO = append(slices.Clip(s.RO), program)
		}
	}
	if l := p.spec.Limits; l != nil {
		s.Limits = sandbox.Limits{Memory: l.Memory, PIDs: l.PIDs, Files: l.Files}
		if err := p.openGroup(l); err != nil {
			return err
		}
		s.Grouped = p.group != nil
	}
	if a.TTY {
		if err := p.giveTerminal(&s); err != nil {
			return err
		}
	}
	box, err := p.open(ctx, s)
	if err != nil {
		return inSpec(err)
	}
	p.box = box
	p.later(func() error {
		_ = box.Kill() // it may have ended long ago
		_, _ = box.Wait()
		if box.Terminal() != nil {
			_ = box.Terminal().Close() // it may be closed already
		}
		return nil
	})
	if native, ok := box.(*sandbox.Sandbox); ok && p.group != nil {
		if err := p.group.Add(native.PID()); err != nil {
			return fmt.Errorf("bound what the sandbox uses: %w", err)
		}
	}
	return p.verify(box.Layers())
}

// fields are the specification's names for those of a sandbox.
var fields = map[string]string{
	"Path": "agent.path", "Env": "agent.env", "Cwd": "agent.cwd", "TTY": "agent.tty",
	"RO": "paths.ro", "RW": "paths.rw", "Sockets": "paths", "Descriptors": "descriptors", "Limits": "limits", "Seccomp": "seccomp", "Dir": "paths.runtime", "AllowedHosts": "allow",
}

// inSpec puts what the sandbox refuses into the terms of the specification.
func inSpec(err error) error {
	var refused *sandbox.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	field := fields[refused.Field]
	if field == "" {
		field = refused.Field
	}
	return &config.Error{Problems: []config.Problem{{Field: field, Message: refused.Reason}}}
}

// profile is the filter's, off where there is none to be had.
func profile(asked string, available bool) sandbox.Profile {
	switch {
	case !available:
		return sandbox.Off
	case asked == "":
		return sandbox.Baseline
	}
	return sandbox.Profile(asked)
}

// verify compares what was announced with what is in force.
func (p *phase) verify(layers map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(p.plan.Layers)) {
		if p.plan.Layers[name] == "on" && layers[name] != "on" {
			return &plan.Refusal{Reason: "layer " + name + " was planned and is not in force"}
		}
	}
	return nil
}

// environment is the agent's whole environment: what is harmless of the
// caller's, what the specification says, and what leads to the doors.
func (p *phase) environment() []string {
	env := map[string]string{}
	maps.Copy(env, p.spec.Agent.Env)
	env["BRIDGE_MODE"], env["BRIDGE_LEVEL"], env["BRIDGE_REASON"] = p.plan.Mode, p.plan.Level, p.plan.Reason
	if p.plan.Proxy {
		proxy := "http://127.0.0.1:" + strconv.Itoa(config.ProxyPort)
		for _, key := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "BRIDGE_PROXY"} {
			env[key] = proxy
		}
		for _, key := range []string{"NO_PROXY", "no_proxy"} {
			env[key] = "localhost,127.0.0.1,::1"
		}
		env["NODE_USE_ENV_PROXY"] = "1" // Node's fetch reads no proxy variable without it
	}
	for _, d := range p.doors {
		d.tell(env, p.spec.Agent)
	}
	p.model.tell(env)
	return sandbox.Environment(env, os.Environ())
}

// milliseconds is a duration of the specification; 0 leaves the default.
func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
