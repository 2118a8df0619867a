package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// initName is the name under which this program runs as the lab's first process.
const initName = "bridgecheck-lab"

const namespaces = unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// Start runs order in a new lab and waits for its end. It returns the exit code
// of the order's command; an error means that there was no lab to run it in. In
// a container (inContainer) root makes the lab directly; elsewhere a user
// namespace comes round it.
func Start(ctx context.Context, o Order, inContainer bool, stdout, stderr io.Writer) (int, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("lab: pipe: %w", err)
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{initName}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.ExtraFiles = []*os.File{r}
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL}
	if !inContainer {
		if err := ownUserNamespace(cmd.SysProcAttr, o.UID, o.GID); err != nil {
			w.Close()
			return 0, err
		}
	}
	if err := cmd.Start(); err != nil {
		w.Close()
		return 0, fmt.Errorf("lab: make namespaces: %w; `bridgecheck doctor` names the cause", err)
	}
	err = json.NewEncoder(w).Encode(o)
	w.Close()
	waitErr := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code >= 0 && ctx.Err() == nil {
		if code == setupFailed {
			return 0, fmt.Errorf("lab: it could not be prepared; the reason is above")
		}
		return code, nil
	}
	if err != nil {
		return 0, fmt.Errorf("lab: send order: %w", err)
	}
	return 0, fmt.Errorf("lab: %w", waitErr)
}

// ownUserNamespace maps every id this process has, when it is root, or just the
// one the checks run under.
func ownUserNamespace(attr *syscall.SysProcAttr, uid, gid int) error {
	attr.Cloneflags |= unix.CLONE_NEWUSER
	if os.Geteuid() != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{
			unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE,
			unix.CAP_CHOWN, unix.CAP_SETUID, unix.CAP_SETGID,
		}
		return nil
	}
	size, err := mappedIDs()
	if err != nil {
		return err
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: size}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: size}}
	attr.GidMappingsEnableSetgroups = true
	return nil
}

// mappedIDs is how many ids from 0 upwards exist here: a user namespace inside
// another cannot map more than that one has.
func mappedIDs() (int, error) {
	raw, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0, fmt.Errorf("lab: read uid_map: %w", err)
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 3 || fields[0] != "0" {
		return 0, fmt.Errorf("lab: uid_map %q does not begin at 0; run as an ordinary user instead", fields)
	}
	size, err := strconv.ParseUint(fields[2], 10, 32)
	if err != nil {
		return 0, fmt.Errorf("lab: uid_map: %w", err)
	}
	return int(min(size, 65536)), nil
}

// UserCell returns the ids a cell runs under: uid 1000 for user, 0 for root.
// An unprivileged caller keeps its own id in the user cell: it has no other.
func UserCell(root bool) (uid, gid int) {
	switch {
	case root:
		return 0, 0
	case os.Geteuid() != 0:
		return os.Geteuid(), os.Getegid()
	}
	return 1000, 1000
}
