package egress

import (
	"io"
	"time"
)

// Splice carries bytes between two connections as the proxy's tunnels do: both
// ways until both directions have ended, the end of one passed on as the end of
// one, an error as the end of both. It ends them when no byte has moved in
// either direction for idle, and reports that. The caller closes both.
func Splice(client, server io.ReadWriteCloser, idle time.Duration) (idled bool) {
	return tunnel(client, server, func() error { return nil }, idle)
}
