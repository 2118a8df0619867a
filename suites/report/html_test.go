package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"bridgecheck/suites/report"
)

const hostileText = `"><script>alert(1)</script></pre></style><img src=x onerror=alert(1)>{{.}}`

func htmlOf(t *testing.T, v report.Verdict, o report.HTMLOptions) (string, *html.Node) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := report.WriteHTML(path, v, o); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return string(data), doc
}

// find returns the elements with the tag, in the order of the page.
func find(doc *html.Node, tag string) []*html.Node {
	var found []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag {
			found = append(found, n)
		}
	}
	return found
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// fullPage has one check of each kind, hostile text and evidence.
func fullPage(t *testing.T) (string, *html.Node) {
	t.Helper()
	v := mixed(t)
	v.Cases[1].Results[0].Steps[1].Got = hostileText
	v.Cases[1].Reason = hostileText
	v.Subject.Name = hostileText
	v.Cases[1].Results[0].Evidence = []string{"ALW-002/events.jsonl", "ALW-002/agent.log", "ALW-002/big.bin", "ALW-002/gone"}
	big := append(bytes.Repeat([]byte("head\n"), 20000), "the very end"...)
	return htmlOf(t, v, report.HTMLOptions{
		Evidence: fstest.MapFS{
			"ALW-002/events.jsonl": {Data: []byte(`{"time":"2026-01-02T03:04:05Z","event":"mode","mode":"connect"}` + "\n" +
				`{"time":"2026-01-02T03:04:05.0125Z","event":"decision","verdict":"allow","target":"other.test:443"}` + "\n")},
			"ALW-002/agent.log": {Data: []byte(hostileText)},
			"ALW-002/big.bin":   {Data: big},
		},
		Kills: []report.KillRow{{Name: "open-proxy", Why: "x", Caught: true, Named: []string{"ALW-002"}}},
	})
}

// TestHTMLIsOneFile: nothing is loaded from anywhere, and only the page's own
// style and script may run.
func TestHTMLIsOneFile(t *testing.T) {
	_, doc := fullPage(t)
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "src" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	var policy string
	for _, m := range find(doc, "meta") {
		if attr(m, "http-equiv") == "Content-Security-Policy" {
			policy = attr(m, "content")
		}
	}
	for _, tag := range []string{"script", "style"} {
		nodes := find(doc, tag)
		if len(nodes) != 1 {
			t.Fatalf("%d <%s>, want 1", len(nodes), tag)
		}
		sum := sha256.Sum256([]byte(textOf(nodes[0])))
		want := fmt.Sprintf("%s-src 'sha256-%s'", tag, base64.StdEncoding.EncodeToString(sum[:]))
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q does not hold %q", policy, want)
		}
	}
	if imgs := find(doc, "img"); len(imgs) != 0 {
		t.Error("the text of a subject became an element")
	}
}

// TestHTMLTellsAll: a stranger with only this file finds what is wrong, what was
// seen, the evidence, and how to rerun it.
func TestHTMLTellsAll(t *testing.T) {
	_, doc := fullPage(t)
	cases := map[string]*html.Node{}
	for _, n := range find(doc, "details") {
		if attr(n, "class") != "case" {
			continue
		}
		id := attr(n, "id")
		if cases[id] != nil {
			t.Errorf("%s stands twice", id)
		}
		cases[id] = n
	}
	if len(cases) != 4 {
		t.Fatalf("%d checks, want 4", len(cases))
	}
	text := textOf(cases["ALW-002"])
	for _, want := range []string{
		"The proxy MUST answer 403", "CONNECT allowed.test:443", "a 403 from the proxy", hostileText, "1 connection upstream",
		"make case ID=ALW-002", "suites/allowlist/deny.go:27", "12.5 ms", `target "other.test:443"`,
		"the very end", "bytes in the middle are left out", "gone cannot be read", "cell user", "cell root",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("ALW-002 does not say %q", want)
		}
	}
	if strings.Count(text, "head\n") > 14000 {
		t.Error("the large file was not cut")
	}
	for _, a := range cases["ALW-002"].Attr {
		if a.Key == "open" {
			return
		}
	}
	t.Error("a red check is not open")
}

// TestHTMLStructure: what a screen reader goes by.
func TestHTMLStructure(t *testing.T) {
	_, doc := fullPage(t)
	if n := len(find(doc, "h1")); n != 1 {
		t.Errorf("%d <h1>, want 1", n)
	}
	if lang := attr(find(doc, "html")[0], "lang"); lang != "en" {
		t.Errorf("lang is %q", lang)
	}
	ids := map[string]int{}
	for n := range doc.Descendants() {
		if id := attr(n, "id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %s stands %d times", id, n)
		}
	}
	for n := range doc.Descendants() {
		if by := attr(n, "aria-labelledby"); by != "" && ids[by] == 0 {
			t.Errorf("<%s> is labelled by %q, which is not there", n.Data, by)
		}
		if n.Type == html.ElementNode && n.Data == "th" && attr(n, "scope") == "" {
			t.Errorf("a table head without scope: %s", textOf(n))
		}
	}
	for _, tag := range []string{"input", "select"} {
		for _, n := range find(doc, tag) {
			if n.Parent.Data != "label" {
				t.Errorf("<%s id=%s> has no label", tag, attr(n, "id"))
			}
		}
	}
}

func TestHTMLWithoutEvidence(t *testing.T) {
	text, _ := htmlOf(t, mixed(t), report.HTMLOptions{})
	if !strings.Contains(text, "not in this report") {
		t.Error("does not say that the evidence is missing")
	}
	text, _ = htmlOf(t, report.Judge(nil, options()), report.HTMLOptions{})
	if !strings.Contains(text, "Nothing can be concluded") || !strings.Contains(text, "no facts") {
		t.Error("an invalid run does not say so")
	}
}
