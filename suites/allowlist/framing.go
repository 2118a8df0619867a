package allowlist

import (
	"bytes"
	"context"
	"regexp"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// The ends of the requests below: hidden is what a smuggler wants the host to take
// for a second request, body is that of one which may be normalised.
const (
	hidden = "GET URLhidden HTTP/1.1\r\nHost: NAME:PORT\r\n\r\n"
	body   = "Content-Length: 4\r\nConnection: close\r\n\r\nbody"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-019",
	Title:  "passes on no request that two could read in two ways",
	Must:   "Content-Length with Transfer-Encoding, obsolete folding, bare CR or LF and NUL MUST be answered 400 and end the connection, or the host MUST see exactly one normalised request (RFC 9112 sections 6.3 and 2.2); never two.",
	Level:  catalog.Security,
	Clause: "5.19",
	Needs:  []subject.Capability{subject.AbsoluteForm},
	Faults: []string{"lengths-and-coding-accepted"},
	Why:    "What the proxy takes for a body the host takes for a request: nobody has judged it.",
}, []kit.Row[string]{ // the request behind its Host field, as [fill] reads it
	{Name: "length-and-chunked", Value: "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden},
	{Name: "chunked-and-length", Value: "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n" + hidden},
	{Name: "two-lengths", Value: "Content-Length: 0\r\nContent-Length: 60\r\n\r\n" + hidden},
	{Name: "list-of-lengths", Value: "Content-Length: 0, 60\r\n\r\n" + hidden},
	{Name: "signed-length", Value: "Content-Length: +0\r\n\r\n" + hidden},
	{Name: "coding-in-disguise", Value: "Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n" + hidden},
	{Name: "space-before-colon", Value: "Content-Length : 60\r\n\r\n" + hidden},
	{Name: "folded", Value: "X-A: 1\r\n Content-Length: 60\r\n" + body},
	{Name: "folded-coding", Value: "Transfer-Encoding:\r\n chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n" + hidden},
	{Name: "bare-lf", Value: "X-A: 1\nX-B: 2\r\n" + body},
	{Name: "bare-cr", Value: "X-A: 1\rX-B: 2\r\n" + body},
	{Name: "nul", Value: "X-A: 1\x00\r\n" + body},
	{Name: "nul-in-name", Value: "X\x00-A: 1\r\n" + body},
	{Name: "chunk-size-in-disguise", Value: "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n" + hidden},
}, func(ctx context.Context, t *kit.T, rest string) {
	u := t.HTTP()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
	post := "POST URLopen HTTP/1.1\r\nHost: NAME:PORT\r\n"
	t.Control("statuses of a clean request", statuses(exchange(ctx, agent, fill(post+body, u))), kit.Be([]int{200}))
	before := len(u.Streams())

	got := statuses(exchange(ctx, agent, fill(post+rest, u)))
	t.Attempt("the answer is one, 400, 501 or that of the one request", len(got) == 1 && (got[0] == 400 || got[0] == 501 || got[0] == 200), kit.Be(true))
	for _, stream := range u.Streams()[before:] {
		t.FarSide("what is unclear in what the host got", unclear(stream.Head), kit.BeNone())
	}
})

var (
	requestLine = regexp.MustCompile(`(?m)^[A-Z]+ [^ ]+ HTTP/1`)
	lengthField = regexp.MustCompile(`(?mi)^content-length:`)
	codingField = regexp.MustCompile(`(?mi)^transfer-encoding:`)
	folding     = regexp.MustCompile(`\r\n[ \t]`)
	bareLF      = regexp.MustCompile(`(^|[^\r])\n`)
	bareCR      = regexp.MustCompile(`\r([^\n]|$)`)
)

// unclear lists what two could read in two ways. The body of the requests above
// has at most 60 octets of a request, which a host of clear lengths reads as such.
func unclear(stream []byte) []string {
	head, _, _ := bytes.Cut(stream, []byte("\r\n\r\n"))
	list := []string{}
	for what, is := range map[string]bool{
		"two requests":         len(requestLine.FindAll(stream, -1)) > 1,
		"two lengths":          len(lengthField.FindAll(head, -1))+len(codingField.FindAll(head, -1)) > 1,
		"a folded field":       folding.Match(head),
		"a bare LF":            bareLF.Match(head),
		"a bare CR":            bareCR.Match(head),
		"NUL":                  bytes.IndexByte(head, 0) >= 0,
		"space before a colon": regexp.MustCompile(`(?m)^[^ :\r]+ +:`).Match(head),
	} {
		if is {
			list = append(list, what)
		}
	}
	return list
}
