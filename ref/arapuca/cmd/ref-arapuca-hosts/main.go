// Command ref-arapuca-hosts is the reference bridge over go-arapuca, whose own proxy has the allowlist: MCP
// servers are the agent's children.
package main

import (
	"bridgecheck/ref/arapuca/internal/subject"
	"bridgecheck/ref/arapuca/launcher"
)

func main() { subject.Main("ref-arapuca-hosts", launcher.Hosts) }
