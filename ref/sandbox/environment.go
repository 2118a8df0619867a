package sandbox

import (
	"slices"
	"strings"
)

// Inherited are the variables of the caller that an agent may see; of LC_ all.
// Nothing else survives: no LD_*, DYLD_*, BASH_ENV, NODE_OPTIONS, PYTHON*,
// GIT_* or XDG_*, no proxy setting, no credential, and no TMPDIR, which names a
// directory that is not there inside.
var Inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE",
	"TERM", "COLORTERM", "NO_COLOR", "TZ",
}

// Environment gives the agent's environment, sorted: what may be inherited of
// base ("NAME=value"), overlaid by agentEnv. Variables that CheckEnvironment
// refuses are left out.
func Environment(agentEnv map[string]string, base []string) []string {
	all := map[string]string{}
	for _, kv := range base {
		name, value, ok := strings.Cut(kv, "=")
		if ok && (slices.Contains(Inherited, name) || strings.HasPrefix(name, "LC_")) && !strings.ContainsRune(value, 0) {
			all[name] = value
		}
	}
	for name, value := range agentEnv {
		if whyRefused(name, value) == "" {
			all[name] = value
		}
	}
	env := make([]string, 0, len(all))
	for name, value := range all {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// CheckEnvironment refuses, with a *Refusal, variables given for the agent that
// would run or load something before the program named, and those that cannot
// be passed at all. What only configures a program (NODE_OPTIONS,
// PYTHONUNBUFFERED, GIT_AUTHOR_NAME) may be given; it is never inherited.
func CheckEnvironment(agentEnv map[string]string) error {
	names := make([]string, 0, len(agentEnv))
	for name := range agentEnv {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if why := whyRefused(name, agentEnv[name]); why != "" {
			return refuse("Env", "%q %s: leave it out", name, why)
		}
	}
	return nil
}

func whyRefused(name, value string) string {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0):
		return "cannot be passed to a program"
	case strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), name == "GCONV_PATH":
		return "makes the dynamic loader load other code into the program"
	case name == "BASH_ENV", name == "ENV", strings.HasPrefix(name, "BASH_FUNC_"):
		return "makes a shell run other code before the program"
	}
	return ""
}
