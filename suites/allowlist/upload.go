package allowlist

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// uploadBytes is more than the socket buffers of both sides hold.
const uploadBytes = 8 << 20

// upload is a request whose body the client sends to the end before it reads.
type upload struct{ head, tail string }

var _ = kit.Table(catalog.Case{
	ID:     "ALW-025",
	Title:  "lets a client read the refusal of its upload",
	Must:   "A refusal during an upload MUST be read by the client whole, not be lost in a reset.",
	Level:  catalog.Interoperability,
	Clause: "5.25",
	Needs:  []subject.Capability{subject.AbsoluteForm},
	Faults: []string{"refusal-lost-in-reset"},
	Why:    "A close with unread bytes is a reset (RFC 9112 section 9.6): the client sees a broken pipe and no reason.",
}, []kit.Row[upload]{
	{Name: "length", Value: upload{fmt.Sprintf("POST URL HTTP/1.1\r\nHost: NAME:PORT\r\nContent-Length: %d\r\n\r\n", uploadBytes), ""}},
	{Name: "chunked", Value: upload{fmt.Sprintf("POST URL HTTP/1.1\r\nHost: NAME:PORT\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n", uploadBytes), "\r\n0\r\n\r\n"}},
}, func(ctx context.Context, t *kit.T, up upload) {
	allowed, blocked := t.HTTP(), t.HTTP()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allowed.Rule()}}).Agent
	sent, answer := send(ctx, agent, up, allowed)
	t.Control("an upload to the declared host", sent, kit.Succeed())
	t.Control("its answer", whole(answer), kit.Be("200, whole"))

	sent, answer = send(ctx, agent, up, blocked)
	t.Attempt("an upload to the other", sent, kit.Succeed())
	t.Attempt("its answer", answer, kit.BeRefusal())
	t.Attempt("its answer's body", whole(answer), kit.Be(fmt.Sprintf("%d, whole", answer.Status)))
	t.FarSide("connections at the other", blocked.Heard(), kit.BeNone())
})

// send sends the whole request and reads only then, as simple clients do.
func send(ctx context.Context, a *kit.Agent, up upload, u *kit.Upstream) (sent, answer attempt.Observation) {
	opened := a.Do(ctx, attempt.Attempt{
		Op: attempt.OpDial, Network: "tcp", Address: a.Proxy(ctx), Conn: "upload", Data: []byte(fill(up.head, u)),
	})
	if opened.Errno != "" {
		return opened, opened
	}
	sent = a.Do(ctx, attempt.Attempt{Op: attempt.OpSend, Conn: "upload", Size: uploadBytes, Seed: 1})
	if up.tail != "" && sent.Errno == "" {
		sent = a.Send(ctx, "upload", []byte(up.tail))
	}
	answer = a.Receive(ctx, "upload", "head")
	if answer.Errno == "" {
		rest := a.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "upload", Size: contentLength(answer), Until: "size"})
		answer.Data, answer.Errno, answer.Error = append(answer.Data, rest.Data...), rest.Errno, rest.Error
	}
	a.Close(ctx, "upload")
	return sent, answer
}

func contentLength(answer attempt.Observation) (n int64) {
	_, _ = fmt.Sscan(answer.Headers["Content-Length"], &n) // none: no body is read
	return n
}

// whole tells the status of an answer and whether all of it came.
func whole(o attempt.Observation) string {
	answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(o.Data)), nil)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return fmt.Sprintf("%d, %v", answer.StatusCode, err)
	}
	return fmt.Sprintf("%d, whole", answer.StatusCode)
}
