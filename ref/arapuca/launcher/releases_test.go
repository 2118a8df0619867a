package launcher

import (
	"os/exec"
	"testing"
)

// TestOlderRelease: all of the module compiles against an API that lacks what not
// every release has.
func TestOlderRelease(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to compile with")
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "-tags", "go_arapuca_020", "./...")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
