package adapter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-006",
	Title:  "passes long messages both ways, and says so where one is too long",
	Must:   "Messages of 64 KiB and a byte around it, 1 MiB and 16 MiB MUST pass each way unchanged; one past the limit MUST get a clear error, and the session MUST live on.",
	Level:  catalog.Interoperability,
	Clause: "8.6",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"lines-of-64k", "long-answer-dropped", "long-request-passed"},
	Why:    "Line scanners of Go's standard library end at 64 KiB, and the fix for that has been undone once already.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "64k-minus-1", Value: sized(64<<10 - 1)},
	{Name: "64k", Value: sized(64 << 10)},
	{Name: "64k-plus-1", Value: sized(64<<10 + 1)},
	{Name: "1m", Value: sized(1 << 20)},
	{Name: "16m", Value: sized(16 << 20)},
	{Name: "too-long-for-the-server", Value: tooLongForServer},
	{Name: "too-long-for-the-client", Value: tooLongForClient},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// padded is a request of exactly so many bytes.
func padded(id string, size int, script mcp.Script) string {
	short := scripted(id, script)
	filler := fmt.Sprintf(`,"filler":"%s"}`, strings.Repeat("f", size-len(short)-len(`,"filler":""`)))
	return strings.TrimSuffix(short, "}") + filler
}

func sized(size int) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		_, session := session(ctx, t, loopback)
		t.Control("a short request", result(session.Post(ctx, scripted(`"k"`, mcp.Script{}))).Length, kit.Differ(0))

		sent := padded(`"k"`, size, mcp.Script{Text: "long"})
		up := result(session.Post(ctx, sent))
		sum := sha256.Sum256([]byte(sent))
		t.Attempt("a long request is answered", up.Text, kit.Be("long"))
		t.FarSide("its length at the server", up.Length, kit.Be(size))
		t.FarSide("its SHA-256 at the server", up.SHA256, kit.Be(hex.EncodeToString(sum[:])))

		down := session.Post(ctx, scripted(`"k"`, mcp.Script{Bytes: size}))
		t.Attempt("a long answer", down, kit.BeStatus(200))
		t.Attempt("at least its bytes come", down.Bytes >= int64(size), kit.Be(true))
		t.Attempt("and it ends well", session.Post(ctx, request("2", "ping", "{}")), kit.BeStatus(200))
	}
}

// limited is a session where messages may have 100 000 bytes.
func limited(ctx context.Context, t *kit.T) kit.Endpoint {
	spec := host(t.Server("jira"))
	spec.Limits = &subject.Limits{MessageBytes: 100_000}
	phase := t.Start(ctx, spec)
	session := loopback.endpoint(ctx, phase).Session(ctx, legacy, "{}")
	t.Control("a request just inside the limit", result(session.Post(ctx, padded("1", 99_000, mcp.Script{Text: "in"}))).Text, kit.Be("in"))
	t.Control("an answer just inside the limit", result(session.Post(ctx, scripted("2", mcp.Script{Bytes: 99_000, Text: "in"}))).Text, kit.Be("in"))
	return session
}

func tooLongForServer(ctx context.Context, t *kit.T) {
	session := limited(ctx, t)
	before := count(t.Announced("jira"), "request "+mcp.ScriptMethod)
	t.Attempt("a request of 100 100 bytes", session.Promptly(ctx, padded("3", 100_100, mcp.Script{})), kit.BeStatus(413, 400))
	t.FarSide("what reached the server of it", count(t.Announced("jira"), "request "+mcp.ScriptMethod)-before, kit.BeNone())
	t.Attempt("the session lives on", result(session.Post(ctx, scripted("4", mcp.Script{Text: "alive"}))).Text, kit.Be("alive"))
}

func tooLongForClient(ctx context.Context, t *kit.T) {
	session := limited(ctx, t)
	answer := kit.Last(session.Promptly(ctx, scripted("3", mcp.Script{Bytes: 100_100})))
	t.Attempt("an answer of 100 100 bytes: the error names the server", answer.Error.Message, kit.Contain("jira"))
	t.Attempt("its id", string(answer.ID), kit.Be("3"))
	t.Attempt("the session lives on", result(session.Post(ctx, scripted("4", mcp.Script{Text: "alive"}))).Text, kit.Be("alive"))
}
