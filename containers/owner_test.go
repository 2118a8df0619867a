package containers

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestGone(t *testing.T) {
	me := strings.Split(newOwner(), "/")
	if len(me) != 5 || me[3] == "" {
		t.Fatalf("this run is %q, want five parts", me)
	}
	with := func(i int, value string) string {
		part := append([]string(nil), me...)
		part[i] = value
		return strings.Join(part, "/")
	}
	for _, test := range []struct {
		name, owner string
		want        bool
	}{
		{"this process", newOwner(), false},
		{"its pid used before", with(3, "1"), true},
		{"before the last boot", with(0, "another-boot"), true},
		{"another PID namespace", with(1, "pid:[1]"), false},
		{"a pid that is no number", with(2, "x"), false},
		{"no label", "", false},
		{"too few parts", "a/b", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := gone(test.owner); got != test.want {
				t.Errorf("gone(%q) = %v, want %v", test.owner, got, test.want)
			}
		})
	}
}

func TestGoneAfterTheEnd(t *testing.T) {
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	start, err := startTime(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	owner := strings.Join([]string{bootID(), pidNamespace(), strconv.Itoa(child.Process.Pid), start, "1"}, "/")
	if gone(owner) {
		t.Errorf("gone(%q) while the process runs", owner)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if !gone(owner) {
		t.Errorf("gone(%q) is false after the end of the process", owner)
	}
}
