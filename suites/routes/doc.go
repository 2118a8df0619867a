// Package routes checks what the proxy port serves in origin form: MCP servers
// by path, and the model API beside them (area PTH). The far side of a wrong turn
// is the server that was not meant and heard nothing.
package routes

import (
	"context"
	"strings"

	"bridgecheck/suites/kit"
)

// legacy is the newest revision with sessions.
const legacy = "2025-11-25"

// at is a path of the proxy port, byte for byte.
func at(ctx context.Context, a *kit.Agent, path string) kit.Endpoint {
	return a.EndpointAt("http://"+a.Proxy(ctx)+path, "direct")
}

// initialized is how many sessions the server was asked for.
func initialized(t *kit.T, server string) int {
	n := 0
	for _, line := range t.Announced(server) {
		if line == "request initialize" {
			n++
		}
	}
	return n
}

// holding are the lines with this part.
func holding(lines []string, part string) []string {
	found := []string{}
	for _, line := range lines {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}
