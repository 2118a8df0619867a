package kit

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// A look counts only where this number stays: any process that is born changes it.
func TestLastPID(t *testing.T) {
	before := lastPID()
	if n, err := strconv.Atoi(before); err != nil || n < 1 {
		t.Fatalf("last pid %q: %v", before, err)
	}
	c := exec.Command("/proc/self/exe", "-test.run", "^$")
	c.Env = os.Environ()
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if after := lastPID(); after == before {
		t.Errorf("a process was started, and the last pid is %s still", after)
	}
}
