package escape

import (
	"context"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-011",
	Title:  "inherits no variable that loads code, leads out or tells a secret",
	Must:   "Dangerous variables of the caller MUST be removed; of the bridge's configuration nothing MUST be in the agent's reach but its own endpoints and its own token.",
	Level:  catalog.Security,
	Clause: "11.11",
	Needs:  []subject.Capability{subject.EnvClean},
	Faults: []string{"environment-kept", "server-environment-shared"},
	Why:    "A variable runs code in every program that the agent starts, or names a socket or a key of the caller's.",
}, []kit.Row[[]string]{
	{Name: "loader", Value: []string{"LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "GCONV_PATH"}},
	{Name: "shell", Value: []string{"BASH_ENV", "ENV", "BASH_FUNC_planted%%", "PROMPT_COMMAND"}},
	{Name: "interpreters", Value: []string{"NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "JAVA_TOOL_OPTIONS"}},
	{Name: "git", Value: []string{"GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_EXEC_PATH", "GIT_DIR", "GIT_ASKPASS"}},
	{Name: "ways-out", Value: []string{"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "XDG_RUNTIME_DIR", "TMUX"}},
	{Name: "secrets", Value: []string{"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "ANTHROPIC_API_KEY"}},
	{Name: "configuration", Value: nil},
}, func(ctx context.Context, t *kit.T, names []string) {
	if names == nil {
		configuration(ctx, t)
		return
	}
	const nowhere = "/nonexistent/planted"
	var env []string
	for _, name := range names {
		env = append(env, name+"="+nowhere)
	}
	t.Control("variables of a program outside", planted(t.OutsideWith(ctx, env...).Facts(ctx), nowhere), kit.Be(env))

	own := &subject.Agent{Env: map[string]string{"BRIDGECHECK_DECLARED": "declared"}}
	agent := t.Start(ctx, subject.Spec{Agent: own}, kit.WithEnv(env...)).Agent
	t.Control("a variable that the spec gives the agent", agent.Env(ctx, "BRIDGECHECK_DECLARED"), kit.Be("declared"))
	t.Attempt("variables of the caller that the agent has", planted(agent.Facts(ctx), nowhere), kit.BeNone())
})

// planted lists the variables that hold the value.
func planted(f attempt.Facts, value string) []string {
	list := []string{}
	for _, kv := range f.Env {
		if strings.HasSuffix(kv, "="+value) {
			list = append(list, kv)
		}
	}
	return list
}

// configuration gives the bridge a secret that belongs to a server, and looks
// for it wherever the agent could find it: environment, arguments, the spec.
func configuration(ctx context.Context, t *kit.T) {
	t.Require(subject.HostServers)
	secret := "secret-" + t.Unique()
	server := t.Server("keeper")
	server.Env = map[string]string{"KEEPER_KEY": secret}
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{server}})
	phase.Ready(ctx)
	outside := t.Outside(ctx)
	spec := attempt.Attempt{Op: attempt.OpReadFile, Path: phase.SpecFile()}
	t.Control("the spec outside", outside.Do(ctx, spec).Text, kit.Contain(secret))
	t.Control("processes outside whose environment has the secret", holders(ctx, outside, "environ", secret), kit.Differ([]string{}))

	agent := phase.Agent
	t.Control("the agent has the server's endpoint", agent.Env(ctx, "BRIDGE_SERVER_KEEPER_URL"), kit.Differ(""))
	for _, file := range []string{"environ", "cmdline"} {
		t.Attempt("processes in the sandbox whose "+file+" has the secret", holders(ctx, agent, file, secret), kit.BeNone())
	}
	t.Attempt("the spec", agent.Do(ctx, spec), kit.HaveErrno("ENOENT", "ENOTDIR", "EACCES", "EPERM"))
}
