package guardian_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/cgroup"
	"bridgecheck/ref/guardian"
)

// holder is the role of a bridge that is going to be killed.
const holder = "guardian-test-holder"

func TestMain(m *testing.M) {
	guardian.Main()
	if len(os.Args) == 2 && os.Args[0] == holder {
		hold(os.Args[1])
		<-time.After(time.Hour) // not select {}: without cgo that is a deadlock to the runtime
	}
	os.Exit(m.Run())
}

// sitter and grouper are what a holder is given for a base when it is to hold a
// terminal, or a control group.
const (
	sitter  = "terminal"
	grouper = "group"
)

func hold(base string) {
	if base == grouper {
		g, err := guardian.OpenGroup(cgroup.Limits{PIDs: 10})
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(strings.Join(g.Dirs, "\t"))
		return
	}
	if base == sitter {
		if _, err := guardian.Raw(os.Stdin); err != nil {
			os.Exit(1)
		}
		fmt.Println("raw")
		return
	}
	d, err := guardian.Open(base)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = os.WriteFile(filepath.Join(d.Path, "socket"), nil, 0o600)
	fmt.Println(d.Path)
}

func TestDirectory(t *testing.T) {
	base := t.TempDir()
	d, err := guardian.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(d.Path)
	if err != nil || info.Mode() != fs.ModeDir|0o700 || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		t.Errorf("directory = %v, %v; want one of mode 0700 of our own", info, err)
	}
	if filepath.Dir(d.Path) != base {
		t.Errorf("path = %s, want it in %s", d.Path, base)
	}
	if err := os.MkdirAll(filepath.Join(d.Path, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	empty(t, base)
}

func TestUmask(t *testing.T) {
	old := syscall.Umask(0o777)
	defer syscall.Umask(old)
	d, err := guardian.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if info, err := os.Lstat(d.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory = %v, %v", info, err)
	}
}

// A base that the guardian made goes with the last phase in it.
func TestBaseIsMade(t *testing.T) {
	parent := t.TempDir()
	base := filepath.Join(parent, "run")
	first, err := guardian.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	second, err := guardian.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	if first.Path == second.Path {
		t.Error("two phases share one directory")
	}
	if err := errors.Join(second.Close(), first.Close()); err != nil {
		t.Error(err)
	}
	empty(t, parent)
}

func TestRefusedBases(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	link := filepath.Join(dir, "link")
	open := filepath.Join(dir, "open")
	file := filepath.Join(dir, "file")
	must(t, os.Mkdir(victim, 0o700), os.Symlink(victim, link), os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.WriteFile(file, nil, 0o600))
	for base, want := range map[string]string{
		link:                      "symbolic link",
		open:                      "written by others",
		filepath.Join(open, "x"):  "written by others",
		file:                      "not a directory",
		filepath.Join(dir, "a/b"): "no such file",
		"relative":                "absolute",
	} {
		d, err := guardian.Open(base)
		if err == nil {
			d.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), base) {
			t.Errorf("%s: error = %v, want %q in it", base, err, want)
		}
	}
	empty(t, victim)
	must(t, os.Chmod(open, os.ModeSticky|0o777))
	d, err := guardian.Open(open)
	if err != nil {
		t.Fatalf("a sticky directory as /tmp: %v", err)
	}
	d.Close()
}

// However early the bridge is killed, nothing is left in the end: neither the
// directory nor the guardian, whose end is awaited as its subreaper.
func TestSIGKILLOfTheBridge(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip("cannot become a subreaper:", err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
	base := t.TempDir()
	const rounds = 12
	held := 0
	for round := range rounds {
		cmd := exec.Command("/proc/self/exe", base)
		cmd.Args[0] = holder
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		if round%4 == 0 { // else somewhere on the way
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatalf("holder says %q, %v", line, err)
			}
		} else {
			time.Sleep(rand.N(30 * time.Millisecond))
		}
		if entries, _ := os.ReadDir(base); len(entries) > 0 {
			held++
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); errors.Is(err, unix.ECHILD) {
				break
			}
		}
		empty(t, base)
	}
	if held < rounds/4 {
		t.Errorf("the directory was there in %d of %d rounds: the control failed", held, rounds)
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%s holds %v, %v; want nothing", dir, entries, err)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
