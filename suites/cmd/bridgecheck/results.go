package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// reports are what a run leaves beside the folders of its cells.
var reports = []string{"verdict.yaml", "junit.xml", "summary.md", "report.html"}

// claimResults makes the folder of a run this run's alone. What an earlier one
// left is removed first: a run that is killed must not leave the verdict of
// another. Two at once would remove and read each other's facts, so the second
// is refused. The claim ends when the file is closed, or with the process.
func claimResults(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	// A file system without locks of folders guards against nothing, and hurts nobody.
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("results %s: another run is writing there; wait for its end, or name another folder with --results", dir), folder.Close())
	}
	for _, name := range reports {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("results: remove the last verdict: %w", err), folder.Close())
		}
	}
	return folder, nil
}
