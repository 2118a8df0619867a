package kit

import (
	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/upstream"
)

// SocketUpstream starts a counting server on a Unix socket of the host.
func (t *T) SocketUpstream(kind upstream.Kind, path string) *upstream.Server {
	ginkgo.GinkgoHelper()
	server, err := upstream.Start("unix:"+path, kind)
	if err != nil {
		t.Fatal("start upstream: %v", err)
	}
	ginkgo.DeferCleanup(server.Close)
	return server
}
