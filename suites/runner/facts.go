package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"bridgecheck/suites/report"
)

// readFacts reads what the shards of a cell wrote. A shard without a file gives
// unfinished facts with its selection, so that its checks count as missing.
func readFacts(dir string, cell report.Cell, shards [][]string) []report.Facts {
	all := make([]report.Facts, len(shards))
	for i, ids := range shards {
		f, err := readFile(filepath.Join(dir, fmt.Sprintf("shard-%d", i), "facts.json"))
		if err != nil {
			f = report.Facts{Cell: cell, Selected: ids}
		}
		f.Cell.Engine, f.Cell.Privilege = cell.Engine, cell.Privilege
		for r := range f.Results {
			for e := range f.Results[r].Evidence {
				f.Results[r].Evidence[e] = filepath.Join(filepath.Base(dir), fmt.Sprintf("shard-%d", i), f.Results[r].Evidence[e])
			}
		}
		all[i] = f
	}
	return all
}

func readFile(path string) (report.Facts, error) {
	var f report.Facts
	raw, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("facts %s: %w", path, err)
	}
	return f, nil
}
