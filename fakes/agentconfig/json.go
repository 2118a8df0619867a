package agentconfig

import (
	"bytes"
	"encoding/json"
)

// claude is the file of --mcp-config and .mcp.json. An entry with a url and
// without a type is dropped silently.
func claude(servers []Server) ([]byte, error) {
	entries := map[string]any{}
	for _, s := range servers {
		if len(s.Command) > 0 {
			entries[s.Name] = struct {
				Type string `json:"type"`
				stdio
			}{"stdio", s.stdio()}
			continue
		}
		kind := "http"
		if s.SSE {
			kind = "sse"
		}
		entries[s.Name] = struct {
			Type    string            `json:"type"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers,omitempty"`
		}{kind, s.URL, s.headers("${")}
	}
	return indented(map[string]any{"mcpServers": entries})
}

// opencode has one type for both HTTP transports: it falls back by itself.
func opencode(servers []Server) ([]byte, error) {
	entries := map[string]any{}
	for _, s := range servers {
		if len(s.Command) > 0 {
			entries[s.Name] = struct {
				Type        string            `json:"type"`
				Command     []string          `json:"command"`
				Environment map[string]string `json:"environment,omitempty"`
			}{"local", s.Command, s.Env}
			continue
		}
		entries[s.Name] = struct {
			Type    string            `json:"type"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers,omitempty"`
		}{"remote", s.URL, s.headers("{env:")}
	}
	return indented(map[string]any{"mcp": entries})
}

// gemini takes streamable HTTP by a key of its own; a url alone means that too,
// so that the older transport has to be named.
func gemini(servers []Server) ([]byte, error) {
	entries := map[string]any{}
	for _, s := range servers {
		switch {
		case len(s.Command) > 0:
			entries[s.Name] = s.stdio()
		case s.SSE:
			entries[s.Name] = struct {
				Type    string            `json:"type"`
				URL     string            `json:"url"`
				Headers map[string]string `json:"headers,omitempty"`
			}{"sse", s.URL, s.headers("${")}
		default:
			entries[s.Name] = struct {
				URL     string            `json:"httpUrl"`
				Headers map[string]string `json:"headers,omitempty"`
			}{s.URL, s.headers("${")}
		}
	}
	return indented(map[string]any{"mcpServers": entries})
}

type stdio struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

func (s Server) stdio() stdio {
	return stdio{s.Command[0], append([]string{}, s.Command[1:]...), s.Env}
}

// headers refer to the token as the agent writes a variable: opened so, and
// closed by a brace.
func (s Server) headers(open string) map[string]string {
	if s.TokenEnv == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + open + s.TokenEnv + "}"}
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read it
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
