package ref

import (
	"testing"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/config"
)

// TestIdleTimeoutBoundsVanishedClients: MCP-011.
func TestIdleTimeoutBoundsVanishedClients(t *testing.T) {
	for idle, want := range map[int]time.Duration{0: 0, 200: 200 * time.Millisecond, 3_600_000: adapter.DefaultDetached} {
		p := &phase{spec: config.Spec{Timeouts: &config.Timeouts{IdleMS: idle}}}
		if got := p.serverConfig(&door{}).Detached; got != want {
			t.Errorf("idle_ms %d: %s, want %s", idle, got, want)
		}
	}
}
