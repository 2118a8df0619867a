package arapuca

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// MakeSocketDir makes a directory for sockets; the caller removes it.
func MakeSocketDir() (string, error) { return temporary("arapuca-sock-") }

// MakeTmpDir makes a directory for a task; the caller removes it.
func MakeTmpDir(taskID string) (string, error) { return temporary("arapuca-" + taskID + "-") }

func temporary(prefix string) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return "", fmt.Errorf("arapuca: %w", err)
	}
	return dir, nil
}

// WrapperPath is the program arapuca: the one that was set, or else beside this
// one, a directory further up, or in PATH; empty where there is none.
func WrapperPath() string {
	if program != "" {
		return program
	}
	if self, err := os.Executable(); err == nil {
		for _, dir := range []string{filepath.Dir(self), filepath.Dir(filepath.Dir(self))} {
			if path, err := exec.LookPath(filepath.Join(dir, "arapuca")); err == nil {
				return path
			}
		}
	}
	path, _ := exec.LookPath("arapuca") // empty where there is none
	return path
}

// LandlockABIVersion is the kernel's; 0 where it has none.
func LandlockABIVersion() int {
	const createRuleset, version = 444, 1
	abi, _, errno := syscall.Syscall(createRuleset, 0, 0, version)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// NetNSAvailable tells whether this host lets a network namespace be made.
func NetNSAvailable() bool {
	p, err := os.StartProcess("/proc/self/exe", []string{"arapuca", "-V"}, &os.ProcAttr{
		Sys: &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		},
	})
	if err == nil {
		_ = p.Kill() // that it could be started says enough
		_, _ = p.Wait()
	}
	return (err == nil) != behaviour.Has(behaviour.NetNSWrong)
}

// DiskUsageMB is the size of what lies in a directory.
func DiskUsageMB(path string) uint64 {
	var bytes int64
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is not counted
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return uint64(bytes >> 20)
}

// MicroVmAvailable is false: the double has no virtual machines.
func MicroVmAvailable() bool { return false }

// ImagePull fails: the double has no virtual machines.
func ImagePull(_, _ string) (string, error) {
	return "", errors.New("arapuca: microvm support not compiled (build with -tags microvm)")
}
