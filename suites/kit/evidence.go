package kit

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"
)

// evidence is a phase whose files are kept when the check fails.
type evidence struct {
	name string
	data func() []byte
}

// evidence marks the files of a phase; they are read when the check has ended.
func (t *T) evidence(p *Phase) {
	base := filepath.Base(p.dir)
	file := func(name string) {
		t.files = append(t.files, evidence{base + "/" + name, func() []byte {
			raw, err := os.ReadFile(filepath.Join(p.dir, name))
			if err != nil {
				return []byte(err.Error() + "\n")
			}
			return raw
		}})
	}
	file("spec.json")
	file("events.jsonl")
	t.files = append(t.files,
		evidence{base + "/stderr.txt", func() []byte { return []byte(p.Stderr()) }},
		evidence{base + "/agent.jsonl", func() []byte { return p.Agent.said() }},
	)
}

// Keep adds data to the evidence of the check, should it fail.
func (t *T) Keep(name string, data []byte) {
	t.files = append(t.files, evidence{name, func() []byte { return data }})
}

func (a *Agent) said() []byte {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]byte(nil), a.transcript...)
}

// writeEvidence writes what a failed check leaves for its reader and returns
// the paths, relative to the folder of the facts.
func (t *T) writeEvidence(spec ginkgo.SpecReport) []string {
	folder := filepath.Join("evidence", t.run.cfg.Cell.Name, t.check.id())
	top := filepath.Dir(t.run.cfg.Facts)
	for i, a := range t.agents {
		t.Keep("probe-outside-"+string(rune('a'+i))+".jsonl", a.said())
	}
	if steps, err := json.MarshalIndent(t.result.Steps, "", " "); err == nil {
		t.Keep("steps.json", steps)
	}
	t.Keep("failure.txt", []byte(spec.Failure.Message+"\n"+spec.Failure.ForwardedPanic+"\n"+spec.Failure.Location.FullStackTrace))
	var paths []string
	for _, e := range t.files {
		data := e.data()
		if len(data) == 0 {
			continue
		}
		path := filepath.Join(folder, e.name)
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, path)), 0o755); err != nil {
			continue // the result itself still tells what happened
		}
		if os.WriteFile(filepath.Join(top, path), data, 0o644) == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
