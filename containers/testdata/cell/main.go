// Command cell is process 1 of a test container: it writes what it sees as JSON
// to /results/seen.json and ends with the exit code its first argument gives, or
// waits for a signal when that is "wait".
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		return
	}
	fmt.Println("to stdout")
	fmt.Fprintln(os.Stderr, "to stderr")
	if err := observe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	if os.Args[1] == "wait" {
		fmt.Println("waiting")
		<-time.After(time.Hour) // not select {}: without cgo that is a deadlock to the runtime
	}
	code, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Exit(98)
	}
	os.Exit(code)
}

func observe() error {
	tmp, err := os.Stat("/tmp")
	if err != nil {
		return err
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return err
	}
	var names []string
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 {
			names = append(names, i.Name)
		}
	}
	_, v6 := net.Listen("tcp", "[::1]:0")
	seen := map[string]any{
		"uid": os.Getuid(), "tmp": tmp.Mode().String(), "up": names, "ipv6": v6 == nil,
		"env": os.Getenv("BRIDGECHECK_TEST"), "namespaces": namespaces(),
		"resolv.conf writable": os.WriteFile("/etc/resolv.conf", nil, 0o644) == nil,
	}
	text, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	if err := os.MkdirAll("/results/deep", 0o700); err != nil {
		return err
	}
	if err := os.Symlink("/etc/passwd", "/results/link"); err != nil {
		return err
	}
	if err := os.WriteFile("/results/deep/empty", nil, 0o600); err != nil {
		return err
	}
	return os.WriteFile("/results/seen.json", text, 0o600)
}

// namespaces starts a child in a user, network, PID and mount namespace of its
// own, as uid 1000 and as root, and mounts a fresh /proc in it.
func namespaces() string {
	var failed []string
	for _, uid := range []uint32{0, 1000} {
		child := exec.Command("/proc/self/exe", "child")
		child.SysProcAttr = &syscall.SysProcAttr{
			Credential:  &syscall.Credential{Uid: 0, Gid: 0},
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(uid), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(uid), Size: 1}},
		}
		if err := child.Run(); err != nil {
			failed = append(failed, fmt.Sprintf("uid %d: %v", uid, err))
		}
	}
	return strings.Join(failed, "; ")
}
