package report

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// fileView is one file of evidence inside the page.
type fileView struct {
	Name, Text string
	// Note says that the file was cut or is missing.
	Note string
	// Events is the timeline, where the file is one of events.
	Events []eventView
}

type eventView struct{ After, Kind, Rest string }

// The page is to be sent by mail: a file is cut in its middle above fileBytes,
// and left out when all files together are above pageBytes.
const (
	fileBytes = 64 << 10
	pageBytes = 8 << 20
)

// inliner reads evidence and keeps count of what it has put into the page.
type inliner struct {
	fsys fs.FS
	used int
}

func (in *inliner) files(names []string) []fileView {
	var files []fileView
	for _, name := range names {
		files = append(files, in.file(name))
	}
	return files
}

func (in *inliner) file(name string) fileView {
	f := fileView{Name: name}
	if in.fsys == nil {
		f.Note = "not in this report"
		return f
	}
	data, err := fs.ReadFile(in.fsys, path.Clean(name))
	switch {
	case err != nil:
		f.Note = "cannot be read: " + err.Error()
		return f
	case in.used+min(len(data), fileBytes) > pageBytes:
		f.Note = fmt.Sprintf("%d bytes, left out: the report is large enough", len(data))
		return f
	}
	if strings.HasSuffix(name, "events.jsonl") {
		f.Events = timeline(data)
	}
	if cut := len(data) - fileBytes; cut > 0 {
		f.Note = fmt.Sprintf("%d bytes in the middle are left out", cut)
		half := fileBytes / 2
		data = slices.Concat(data[:half], []byte(fmt.Sprintf("\n… %d bytes …\n", cut)), data[len(data)-half:])
		f.Events = nil
	}
	in.used += len(data)
	if f.Text = string(data); !utf8.ValidString(f.Text) {
		f.Text = fmt.Sprintf("%q", data)
	}
	return f
}

// timeline reads JSON lines of events. Nothing is returned when one of them is
// none: the reader gets the text as it is then.
func timeline(data []byte) []eventView {
	var events []eventView
	var first time.Time
	for line := range strings.Lines(string(data)) {
		var object map[string]json.RawMessage
		var head struct {
			Time time.Time `json:"time"`
			Kind string    `json:"event"`
		}
		if json.Unmarshal([]byte(line), &object) != nil || json.Unmarshal([]byte(line), &head) != nil || head.Kind == "" {
			return nil
		}
		if first.IsZero() {
			first = head.Time
		}
		delete(object, "time")
		delete(object, "event")
		var rest []string
		for _, key := range slices.Sorted(maps.Keys(object)) {
			rest = append(rest, key+" "+string(object[key]))
		}
		after := fmt.Sprintf("%.1f ms", float64(head.Time.Sub(first).Microseconds())/1000)
		events = append(events, eventView{after, head.Kind, strings.Join(rest, ", ")})
	}
	return events
}
