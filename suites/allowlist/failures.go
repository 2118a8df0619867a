package allowlist

import (
	"strings"

	"bridgecheck/fakes/attempt"
)

// proxyError is the error type of the Proxy-Status field (RFC 9209 section
// 2.1.1), empty without one.
func proxyError(answer attempt.Observation) string {
	for _, parameter := range strings.Split(answer.Headers["Proxy-Status"], ";") {
		if name, found := strings.CutPrefix(strings.TrimSpace(parameter), "error="); found {
			return name
		}
	}
	return ""
}
