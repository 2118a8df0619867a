package kit

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/attempt"
)

// Env is the value of a variable in the probe's environment.
func (a *Agent) Env(ctx context.Context, name string) string {
	ginkgo.GinkgoHelper()
	for _, kv := range a.Facts(ctx).Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// Facts asks for what the probe sees; it is asked once.
func (a *Agent) Facts(ctx context.Context) attempt.Facts {
	ginkgo.GinkgoHelper()
	if a.facts == nil {
		obs := a.Do(ctx, attempt.Attempt{Op: attempt.OpFacts})
		if obs.Facts == nil {
			a.t.Fatal("probe %s gave no facts: %s %s", a.where, obs.Errno, obs.Error)
		}
		a.facts = obs.Facts
	}
	return *a.facts
}

// Proxy is the host:port of the proxy that the agent's environment names.
func (a *Agent) Proxy(ctx context.Context) string {
	ginkgo.GinkgoHelper()
	raw := a.Env(ctx, "HTTP_PROXY")
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		ginkgo.Fail(fmt.Sprintf("the agent's environment names no proxy: HTTP_PROXY is %q", raw))
	}
	return u.Host
}

// Connect sends a CONNECT for the authority to the proxy and reads the head of
// the answer. The connection stays open under the name "tunnel".
func (a *Agent) Connect(ctx context.Context, authority string) attempt.Observation {
	ginkgo.GinkgoHelper()
	return a.Raw(ctx, "tunnel", []byte("CONNECT "+authority+" HTTP/1.1\r\nHost: "+authority+"\r\n\r\n"))
}

// Raw sends bytes to the proxy on a new connection, which it keeps under the
// name, and reads the head of the answer into Status, Phrase and Headers.
func (a *Agent) Raw(ctx context.Context, conn string, data []byte) attempt.Observation {
	ginkgo.GinkgoHelper()
	return a.RawAt(ctx, "tcp", a.Proxy(ctx), conn, data)
}

// RawAt is Raw to another address than the proxy's.
func (a *Agent) RawAt(ctx context.Context, network, address, conn string, data []byte) attempt.Observation {
	ginkgo.GinkgoHelper()
	return parseHead(a.Do(ctx, attempt.Attempt{
		Op: attempt.OpDial, Network: network, Address: address, Conn: conn, Data: data, Until: "head",
	}))
}

// Receive reads from a kept connection until head, line, eof or size.
func (a *Agent) Receive(ctx context.Context, conn, until string) attempt.Observation {
	ginkgo.GinkgoHelper()
	return parseHead(a.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: conn, Until: until}))
}

// Send writes to a kept connection.
func (a *Agent) Send(ctx context.Context, conn string, data []byte) attempt.Observation {
	ginkgo.GinkgoHelper()
	return a.Do(ctx, attempt.Attempt{Op: attempt.OpSend, Conn: conn, Data: data})
}

// Close closes a kept connection.
func (a *Agent) Close(ctx context.Context, conn string) attempt.Observation {
	ginkgo.GinkgoHelper()
	return a.Do(ctx, attempt.Attempt{Op: attempt.OpClose, Conn: conn})
}

// Dial connects and closes again.
func (a *Agent) Dial(ctx context.Context, network, address string) attempt.Observation {
	ginkgo.GinkgoHelper()
	return a.Do(ctx, attempt.Attempt{Op: attempt.OpDial, Network: network, Address: address, TimeoutMS: 3000})
}

// Get makes a GET request; via is direct, proxy, connect or environment.
func (a *Agent) Get(ctx context.Context, url, via string) attempt.Observation {
	ginkgo.GinkgoHelper()
	return a.Do(ctx, attempt.Attempt{Op: attempt.OpHTTP, Method: http.MethodGet, URL: url, Via: via})
}

// parseHead fills in the HTTP fields of an observation that holds raw bytes.
func parseHead(obs attempt.Observation) attempt.Observation {
	if !bytes.HasPrefix(obs.Data, []byte("HTTP/")) {
		return obs
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(obs.Data)), nil)
	if err != nil {
		return obs
	}
	resp.Body.Close()
	obs.Status = resp.StatusCode
	obs.Phrase = strings.TrimSpace(strings.TrimPrefix(resp.Status, resp.Status[:3]))
	obs.Headers = map[string]string{}
	for k, v := range resp.Header {
		obs.Headers[k] = strings.Join(v, ", ")
	}
	return obs
}
