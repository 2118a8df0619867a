package report_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"bridgecheck/suites/report"
)

// TestHTMLInBrowser: the policy lets the page's own script run, and the address
// of a check opens it.
func TestHTMLInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium to open the report with")
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := report.WriteHTML(path, mixed(t), report.HTMLOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+path+"#LIF-014")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	doc, err := html.Parse(strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for _, n := range find(doc, "details") {
		for _, a := range n.Attr {
			open[attr(n, "id")] = open[attr(n, "id")] || a.Key == "open"
		}
	}
	if !open["LIF-014"] || !open["ALW-002"] || open["ALW-001"] {
		t.Errorf("open are %v; want LIF-014, which was asked for, and the red ones", open)
	}
	for _, n := range find(doc, "p") {
		if attr(n, "id") == "shown" && textOf(n) != "4 of 4 checks shown" {
			t.Errorf("the status says %q", textOf(n))
		}
	}
}
