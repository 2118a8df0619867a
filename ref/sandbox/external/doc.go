// Package external launches an agent by a helper process: a sandbox library
// that forks, locks threads or ends its process never does so in the bridge.
//
// The helper is a program that calls [Serve] with a [Backend]. It gets the
// agent's standard streams as its own, and the end of a socket pair as
// descriptor 3, on which both sides write JSON lines. The helper begins:
//
//	helper → bridge   {"about": {…}}                    at once
//	bridge → helper   {"launch": {…}}                   at most one
//	helper → bridge   {"started": {"pid": 4711}}        or one of
//	                  {"refused": {"field": "Limits", "reason": "…"}}
//	                  {"failed": {"stage": "launch", "errno": "EPERM", "reason": "…"}}
//	bridge → helper   {"signal": 15}                    any number
//	bridge → helper   {"kill": true}
//	helper → bridge   {"exited": {"code": 0}}           when nothing is left
//
// The end of the stream tells the helper to kill and to clear up, for which it has
// ten seconds. A parent-death signal would not do: it would end the helper before
// it has cleared up. A helper that ends without refused, failed or exited has died,
// which is an error.
//
// An agent that such a helper launches runs from its first instruction on, so
// what is in force cannot be read back in between. A rehearsal tells it beforehand:
// the same launch with the bridge's own program in the agent's place, which tries
// the host's loopback, the proxy's port, and files that are declared and not
// declared, and reads its own namespaces, filter and capabilities. A layer that was
// asked for and is not seen stops the start.
//
// The variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in either case, lead
// to the port of the sandbox; a backend that sets them itself may leave them out.
package external
