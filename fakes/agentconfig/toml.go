package agentconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// codex writes tables of config.toml, which may be appended to a file that has
// none of the same name. Codex scrubs the environment of a stdio server: what it
// needs must stand in env, or by its name in env_vars.
func codex(servers []Server) ([]byte, error) {
	var b bytes.Buffer
	for i, s := range servers {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[mcp_servers.%s]\n", s.Name)
		if s.URL != "" {
			fmt.Fprintf(&b, "url = %s\n", quoted(s.URL))
			if s.TokenEnv != "" {
				fmt.Fprintf(&b, "bearer_token_env_var = %s\n", quoted(s.TokenEnv))
			}
			continue
		}
		fmt.Fprintf(&b, "command = %s\nargs = %s\n", quoted(s.Command[0]), quoted(s.stdio().Args))
		if len(s.EnvFrom) > 0 {
			fmt.Fprintf(&b, "env_vars = %s\n", quoted(s.EnvFrom))
		}
		if len(s.Env) > 0 {
			fmt.Fprintf(&b, "[mcp_servers.%s.env]\n", s.Name)
			for _, key := range slices.Sorted(maps.Keys(s.Env)) {
				fmt.Fprintf(&b, "%s = %s\n", quoted(key), quoted(s.Env[key]))
			}
		}
	}
	return b.Bytes(), nil
}

// quoted writes a string, or an array of strings, as TOML: its basic strings take
// every escape of JSON's but want DEL escaped too (toml.io, v1.0.0, String).
func quoted(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings can be encoded
	return bytes.ReplaceAll(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte{0x7f}, []byte(`\u007f`))
}
