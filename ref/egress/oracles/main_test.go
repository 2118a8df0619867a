package oracles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// subjectEnv holds the name of the proxy that this process is to run and judge,
// alone in new namespaces; shardEnv is its part of the vectors, dirEnv a folder
// for its files.
const (
	subjectEnv = "ORACLES_SUBJECT"
	shardEnv   = "ORACLES_SHARD"
	dirEnv     = "ORACLES_DIR"
)

// shards is in how many labs at a time a proxy is judged: most of the time they
// wait for it to give up.
const shards = 4

func TestMain(m *testing.M) {
	if name := os.Getenv(subjectEnv); name != "" {
		shard, err := strconv.Atoi(os.Getenv(shardEnv))
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(judge(name, os.Getenv(dirEnv), shard))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// result is what one proxy did with every vector, in their order.
type result struct {
	// Unable says why this host cannot hold the lab.
	Unable string
	// Broken says what went wrong in the lab.
	Broken   string
	Outcomes []outcome
}

// inLabs judges one proxy, in as many labs as there are folders.
func inLabs(ctx context.Context, name string, dirs []string) result {
	parts := make([]result, len(dirs))
	var wg sync.WaitGroup
	for i, dir := range dirs {
		wg.Go(func() { parts[i] = inNamespaces(ctx, name, dir, i) })
	}
	wg.Wait()
	var all result
	for i := 0; ; i++ {
		p := &parts[i%len(parts)]
		if p.Unable != "" || p.Broken != "" {
			return *p
		}
		if len(p.Outcomes) == 0 {
			return all
		}
		all.Outcomes = append(all.Outcomes, p.Outcomes[0])
		p.Outcomes = p.Outcomes[1:]
	}
}

// inNamespaces runs this program once more as the lab of one proxy. The process
// identifiers have a namespace too, so that its end is the end of all it began.
// It is no root in there, since some of the proxies refuse to be.
func inNamespaces(ctx context.Context, name, dir string, shard int) result {
	runtime.LockOSThread() // the signal at our death is for that of the thread
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), subjectEnv+"="+name, shardEnv+"="+strconv.Itoa(shard), dirEnv+"="+dir, "GODEBUG=netdns=go")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_NET_BIND_SERVICE},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.Output()
	for _, unable := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EINVAL, syscall.ENOSYS} {
		if errors.Is(err, unable) {
			return result{Unable: fmt.Sprintf("no user and network namespace can be made here: %v", err)}
		}
	}
	var r result
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			out = append(out, exit.Stderr...)
		}
		r.Broken = fmt.Sprintf("lab of %s: %v: %.500s", name, err, out)
	}
	return r
}
