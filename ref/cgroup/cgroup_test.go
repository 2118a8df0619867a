package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestParents(t *testing.T) {
	const v1 = "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup none rw,memory\n" +
		"31 25 0:27 / /sys/fs/cgroup/pids rw shared:9 - cgroup none rw,pids\n"
	for name, row := range map[string]struct {
		own, mounts string
		want        map[string][]string
	}{
		"version 1": {"4:memory:/a/b\n8:pids:/\n1:name=systemd:/x\n", v1, map[string][]string{
			"memory": {"/sys/fs/cgroup/memory/a/b"}, "pids": {"/sys/fs/cgroup/pids"},
		}},
		"version 2": {"0::/user.slice/s.scope\n", "29 22 0:25 / /sys/fs/cgroup rw - cgroup2 none rw\n", map[string][]string{
			"memory": {"/sys/fs/cgroup/user.slice/s.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"},
			"pids":   {"/sys/fs/cgroup/user.slice/s.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"},
		}},
		"both": {"4:memory:/a\n0::/\n", v1 + "33 25 0:29 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n", map[string][]string{
			"memory": {"/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/unified"}, "pids": {"/sys/fs/cgroup/unified"},
		}},
		"container whose mount begins further in": {
			"4:memory:/docker/abc/x\n", "30 25 0:26 /docker/abc /sys/fs/cgroup/memory ro - cgroup none rw,memory\n",
			map[string][]string{"memory": {"/sys/fs/cgroup/memory/x"}},
		},
		"outside of the mount": {"0::/../other\n", "29 22 0:25 / /sys/fs/cgroup rw - cgroup2 none rw\n", map[string][]string{}},
		"nothing":              {"", "", map[string][]string{}},
	} {
		if got := parentsIn(row.own, row.mounts); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// tree is a folder that looks like a parent whose groups have these files; the
// kernel makes them, so here a group has them only when it was planted.
func planted(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestControllers(t *testing.T) {
	all := Limits{Memory: 1 << 20, PIDs: 7}.controllers()
	v2 := planted(t, "memory.max", "memory.swap.max", "pids.max")
	v1 := planted(t, "memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
	for _, c := range all {
		if err := c.set(v2); err != nil {
			t.Error(err)
		}
	}
	if err := all[0].set(v1); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{
		v2 + "/memory.max": "17825792", v2 + "/memory.swap.max": "0", v2 + "/pids.max": "7",
		v1 + "/memory.limit_in_bytes": "17825792", v1 + "/memory.memsw.limit_in_bytes": "17825792",
	} {
		if got := read(t, "", file); got != want {
			t.Errorf("%s = %q, want %q", file, got, want)
		}
	}
	if err := all[1].set(v1); err == nil {
		t.Error("a controller that is not there bounds something")
	}
	if (Limits{}).controllers() != nil {
		t.Error("no limits need a controller")
	}
}

func TestKilled(t *testing.T) {
	v2, v1 := planted(t), planted(t)
	if err := os.WriteFile(v2+"/memory.events", []byte("low 0\noom 3\noom_kill 2\noom_group_kill 9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(v1+"/memory.oom_control", []byte("oom_kill_disable 1\nunder_oom 0\noom_kill 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &Group{Dirs: []string{v2, v1, "/none"}}
	if got := g.Killed(); got != 3 {
		t.Errorf("%d, want 3", got)
	}
}

// The real thing, where this user may.
func TestGroup(t *testing.T) {
	g, err := Make(Limits{Memory: 1 << 30, PIDs: 10})
	if errors.Is(err, ErrNotDelegated) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "read x; (for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 1000 & done) 2>&1; exit 3")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = g.Add(cmd.Process.Pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Remove(0); err == nil {
		t.Error("a group with a process in it was removed")
	}
	other, err := Open(g.Dirs, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Make(Limits{PIDs: 10}) // sweeps
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Remove(0); err != nil {
		t.Error(err)
	}
	_ = in.Close()
	_ = cmd.Wait()
	for _, dir := range g.Dirs {
		if strings.Contains(dir, "pids") && read(t, dir, "pids.max") != "13\n" {
			t.Errorf("the limit is %q, want 10 beside one thread and room for two", read(t, dir, "pids.max"))
		}
		for pid := range strings.FieldsSeq(read(t, dir, "cgroup.procs")) {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			_ = syscall.Kill(n, syscall.SIGKILL) // the other hierarchy has named it before
		}
	}
	other.Release()
	const patience = 5e9
	if err := g.Remove(patience); err != nil {
		t.Error(err)
	}
	for _, dir := range g.Dirs {
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
}

// What nobody holds is swept by the next, and only that.
func TestSweep(t *testing.T) {
	left, err := Make(Limits{PIDs: 10})
	if errors.Is(err, ErrNotDelegated) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	held, err := Make(Limits{PIDs: 10})
	if err != nil {
		t.Fatal(err)
	}
	left.Release()
	next, err := Make(Limits{PIDs: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left.Dirs[0]); err == nil {
		t.Errorf("%s is left", left.Dirs[0])
	}
	if _, err := os.Lstat(held.Dirs[0]); err != nil {
		t.Errorf("a group that is held was swept: %v", err)
	}
	if err := errors.Join(next.Remove(0), held.Remove(0), left.Remove(0)); err != nil {
		t.Error(err)
	}
}
