package allowlist

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// greeting is how a client of another protocol begins, and how a server that
// speaks it would say no.
type greeting struct {
	bytes func(t *kit.T, u *kit.Upstream) []byte
	own   []byte
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-026",
	Title:  "refuses other protocols clearly",
	Must:   "An HTTP/2 preface, a TLS ClientHello and SOCKS bytes sent to the proxy port MUST get a clear refusal, and no hang.",
	Level:  catalog.Security,
	Clause: "5.26",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"waits-for-a-head", "version-ignored"},
	Why:    "https:// or socks5:// in a proxy variable is a mistake that people make; silence tells them nothing.",
}, []kit.Row[greeting]{
	{Name: "http2", Value: greeting{func(*kit.T, *kit.Upstream) []byte { return []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") }, []byte("\x00\x00")}},
	{Name: "http2-connect", Value: greeting{func(_ *kit.T, u *kit.Upstream) []byte {
		return []byte(fill("CONNECT NAME:PORT HTTP/2.0\r\nHost: NAME:PORT\r\n\r\n", u))
	}, nil}},
	{Name: "tls", Value: greeting{func(t *kit.T, u *kit.Upstream) []byte { return clientHello(t, u.Name) }, []byte{21, 3}}},
	{Name: "socks4", Value: greeting{func(_ *kit.T, u *kit.Upstream) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{4, 1}, uint16(u.Port())), 203, 0, 113, 10, 0)
	}, []byte{0, 91}}},
	{Name: "socks5", Value: greeting{func(*kit.T, *kit.Upstream) []byte { return []byte{5, 1, 0} }, []byte{5, 0xff}}},
}, func(ctx context.Context, t *kit.T, g greeting) {
	u := t.Echo()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
	t.Control("CONNECT in HTTP/1.1", agent.Connect(ctx, u.Authority()), kit.BeStatus(200))
	heard := u.Heard()

	answer := agent.Do(ctx, attempt.Attempt{
		Op: attempt.OpDial, Network: "tcp", Address: agent.Proxy(ctx), Data: g.bytes(t, u), Until: "eof", TimeoutMS: 3000,
	})
	t.Attempt("the connection ends", answer.Errno, kit.BeOneOf("", "ECONNRESET"))
	t.Attempt("what was said first", refusalOf(g, answer.Data), kit.BeOneOf("400", "405", "501", "505", "its own refusal"))
	t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
})

// refusalOf is the status of an HTTP answer, or tells a refusal in the protocol
// of the client.
func refusalOf(g greeting, data []byte) string {
	switch status, isHTTP := bytes.CutPrefix(data, []byte("HTTP/1.1 ")); {
	case isHTTP && len(status) >= 3:
		return string(status[:3])
	case g.own != nil && bytes.HasPrefix(data, g.own):
		return "its own refusal"
	}
	return string(data)
}

// clientHello is the first record of a TLS client that asks for the name.
func clientHello(t *kit.T, name string) []byte {
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(near, &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}).Handshake() // nobody answers
	}()
	head := make([]byte, 5)
	_, err := io.ReadFull(far, head)
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if err == nil {
		_, err = io.ReadFull(far, body)
	}
	_ = far.Close()
	<-done
	if err != nil {
		t.Fatal("make a ClientHello: %v", err)
	}
	return slices.Concat(head, body)
}
