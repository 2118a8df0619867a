package sandbox_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user and group without any rights.
const nobody = 65534

// TestUnprivileged runs all tests of this binary once more as another user.
func TestUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root: the other tests run unprivileged already")
	}
	needNamespaces(t)
	// Its own directory, as the test binary's cannot be entered by others.
	dir, err := os.MkdirTemp("", "sandbox-test-") //nolint:usetesting // T.TempDir lies in one that others cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	tmp := filepath.Join(dir, "tmp")
	binary := filepath.Join(dir, "sandbox.test")
	if err := os.Lchown(dir, os.Getuid(), nobody); errors.Is(err, syscall.EINVAL) {
		t.Skip("this user namespace has no other user: ", err)
	}
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.Mkdir(tmp, 0o700), os.Chown(tmp, nobody, nobody), copyFile(self(t), binary, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "-test.v", "-test.timeout=120s")
	cmd.Dir = tmp
	cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + tmp, "HOME=" + tmp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as uid %d: %v\n%s", nobody, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "--- SKIP") && !strings.Contains(line, "TestUnprivileged") {
			t.Logf("as uid %d: %s", nobody, line)
		}
	}
}

func copyFile(from, to string, mode os.FileMode) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		return err
	}
	return dst.Close()
}
