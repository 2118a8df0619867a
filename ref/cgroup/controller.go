package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// controller is one that bounds something, cgroups(7).
type controller struct {
	name string
	// files are written in this order with the value; the first that is there of
	// each row must take it, and one row must.
	files []string
	// swap, where the kernel has it, is written too: what cannot be kept in memory
	// is not to be kept elsewhere.
	swap  map[string]int64
	value int64
}

const pidsMax = "pids.max"

// controllers are those that the limits need.
func (l Limits) controllers() (all []controller) {
	if l.Memory > 0 {
		value := l.Memory + room
		all = append(all, controller{
			name: "memory", files: []string{"memory.max", "memory.limit_in_bytes"}, value: value,
			swap: map[string]int64{"memory.swap.max": 0, "memory.memsw.limit_in_bytes": value},
		})
	}
	if l.PIDs > 0 {
		all = append(all, controller{name: "pids", files: []string{pidsMax}, value: int64(l.PIDs)})
	}
	return all
}

// set writes the limits into a group that has the controller.
func (c controller) set(dir string) error {
	for _, file := range c.files {
		if !exists(dir, file) {
			continue
		}
		if err := write(dir, file, c.value); err != nil {
			return err
		}
		for file, value := range c.swap {
			if exists(dir, file) {
				if err := write(dir, file, value); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return fmt.Errorf("%s has no controller %s", dir, c.name)
}

func exists(dir, file string) bool {
	_, err := os.Lstat(filepath.Join(dir, file))
	return err == nil
}

// write never makes a file: a group has those that its controllers give.
func write(dir, file string, value int64) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	_, err = f.WriteString(strconv.FormatInt(value, 10))
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	return nil
}
