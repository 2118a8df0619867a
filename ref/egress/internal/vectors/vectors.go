// Package vectors holds what clients send to a proxy, good and bad, as bytes. It
// is for tests alone: those of package egress, and the comparison of its proxy
// with others, so that both judge the same.
package vectors

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// DocRows reads the rows of a table in the documentation of package egress: file
// is its doc.go, head the begin of the line with the heads of the columns.
func DocRows(file, head string) ([][]string, error) {
	doc, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the documentation: %w", err)
	}
	_, table, ok := strings.Cut(string(doc), "//\t"+head)
	if !ok {
		return nil, fmt.Errorf("%s has no table that begins with %q", file, head)
	}
	var rows [][]string
	for line := range strings.Lines(table[strings.IndexByte(table, '\n')+1:]) {
		row, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "//\t")
		if !ok {
			break
		}
		rows = append(rows, columns.Split(row, -1))
	}
	return rows, nil
}

var columns = regexp.MustCompile(` {2,}`)
