package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
)

// HTML is the merged page as one file that opens offline.
func (m Merged) HTML() ([]byte, error) {
	style, err := fs.ReadFile(htmlFiles, "html/style.css")
	if err != nil {
		return nil, fmt.Errorf("merged style: %w", err)
	}
	t, err := template.New("merged.html").Funcs(template.FuncMap{"class": class, "list": func(s ...any) []any { return s }}).
		ParseFS(htmlFiles, "html/merged.html")
	if err != nil {
		return nil, fmt.Errorf("merged template: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"M": m, "Style": template.CSS(style), "Note": doubleNote,
		"Policy": fmt.Sprintf("default-src 'none'; style-src '%s'", hash(style)),
	})
	if err != nil {
		return nil, fmt.Errorf("merged page: %w", err)
	}
	return b.Bytes(), nil
}
