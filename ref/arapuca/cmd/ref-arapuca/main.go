// Command ref-arapuca is the reference bridge over go-arapuca, which relays to the bridge's own
// proxy: MCP servers stay on the host.
package main

import (
	"bridgecheck/ref/arapuca/internal/subject"
	"bridgecheck/ref/arapuca/launcher"
)

func main() { subject.Main("ref-arapuca", launcher.Proxy) }
