package containers

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// The labels of containers and images made here.
const (
	labelCell  = "bridgecheck.cell"
	labelOwner = "bridgecheck.owner"
)

// runs counts the runs of this process.
var runs atomic.Int64

// newOwner returns the owner label of one more run: this process and a number.
func newOwner() string { return fmt.Sprintf("%s/%d", self(), runs.Add(1)) }

// self names this process, for as long as anybody may ask: boot id, PID namespace,
// pid and start time, joined by slashes.
var self = sync.OnceValue(func() string {
	pid := os.Getpid()
	start, _ := startTime(pid)
	return strings.Join([]string{bootID(), pidNamespace(), strconv.Itoa(pid), start}, "/")
})

// gone tells whether the process an owner label names has surely ended. A process
// of another PID namespace cannot be looked up from here: it is taken to live, and
// so is one whose label cannot be read.
func gone(owner string) bool {
	part := strings.Split(owner, "/")
	if len(part) != 5 || part[0] == "" {
		return false
	}
	if part[0] != bootID() {
		return bootID() != ""
	}
	pid, err := strconv.Atoi(part[2])
	if err != nil || part[1] != pidNamespace() {
		return false
	}
	start, err := startTime(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && start != part[3]
}

func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

func pidNamespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return link
}

// startTime returns field 22 of /proc/PID/stat, in clock ticks since boot: with
// the pid it names a process until the next boot (proc_pid_stat(5)).
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// Field 2, the name in brackets, may hold blanks and brackets itself.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("read /proc/%d/stat: too few fields", pid)
	}
	return fields[19], nil
}
