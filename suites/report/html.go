package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"strings"
)

//go:embed html
var htmlFiles embed.FS

// HTMLOptions are what report.html holds besides the verdict.
type HTMLOptions struct {
	// Evidence is the results folder; its files are copied into the page. With
	// none, and for a file that is not there, the page says so.
	Evidence fs.FS
	// Kills are the planted faults, where they were run.
	Kills []KillRow
	// KillsSay sums them up in a sentence.
	KillsSay string
}

// KillRow is one planted fault and what it turned red.
type KillRow struct {
	Name, Why   string
	Caught      bool
	Named, Also []string
}

// WriteHTML writes the one file that a stranger needs: it opens offline and
// loads nothing.
func WriteHTML(path string, v Verdict, o HTMLOptions) error {
	page, err := HTML(v, o)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, page, 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// HTML is the verdict as a self-contained page.
func HTML(v Verdict, o HTMLOptions) ([]byte, error) {
	style, err := fs.ReadFile(htmlFiles, "html/style.css")
	if err != nil {
		return nil, fmt.Errorf("report style: %w", err)
	}
	script, err := fs.ReadFile(htmlFiles, "html/script.js")
	if err != nil {
		return nil, fmt.Errorf("report script: %w", err)
	}
	t, err := template.New("page.tmpl").Funcs(template.FuncMap{
		"join": func(list []string) string { return strings.Join(list, ", ") }, "counts": countsText, "class": class,
	}).ParseFS(htmlFiles, "html/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("report template: %w", err)
	}
	p := newPage(v, o)
	p.Style, p.Script = template.CSS(style), template.JS(script)
	// Only this style and this script may run, whatever the evidence holds.
	p.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'", hash(style), hash(script))
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// hash names a text in a Content-Security-Policy (CSP Level 3, 2.3.1).
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// class is the badge's colour: what gates is red, whatever it is called.
func class(o Outcome, gates bool) string {
	if gates {
		return "red"
	}
	if o == Fail || o == Error || o == Invalid {
		return "blocked" // shown, and does not gate
	}
	return strings.ReplaceAll(string(o), "/", "")
}

func countsText(c Counts) string {
	var parts []string
	for _, o := range Outcomes() {
		if c[o] > 0 && o != NotSelected {
			parts = append(parts, fmt.Sprintf("%d %s", c[o], o))
		}
	}
	return strings.Join(parts, ", ")
}
