package kit

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/report"
)

// toolsCap ends a check that lets released programs work: the whole of the
// official suite takes minutes, an agent on a busy machine one.
const toolsCap = 30 * time.Minute

// released is the program that lets released programs work through a subject.
const released = "conformance/conformance"

// hasTools tells what is missing of the folder that the run was given.
func hasTools(folder string) error {
	if folder == "" {
		return lack("the run was given no --tools; make conformance and make agents install them")
	}
	_, err := os.Stat(filepath.Join(folder, released))
	return err
}

// Released runs the program of ci/conformance on the subject and decodes the
// file of facts that it writes. What is missing of npm blocks the check; that the
// program breaks is an error of the harness. Its other files stay beside the
// facts of the run.
func (t *T) Released(ctx context.Context, needs []string, file string, facts any, args ...string) {
	ginkgo.GinkgoHelper()
	folder := t.run.cfg.Tools
	for _, set := range needs {
		if _, err := os.Stat(filepath.Join(folder, "npm", set, "node_modules")); err != nil {
			t.result.Lacks = catalog.HostTools
			t.stop(report.Blocked, "this cell lacks tools: the npm set "+set+" is not installed; make agents installs all")
		}
	}
	results := filepath.Join(filepath.Dir(t.run.cfg.Facts), "tools", t.check.id())
	if err := os.MkdirAll(results, 0o755); err != nil {
		t.Fatal("make folder: %v", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(folder, released), append([]string{
		"-build", folder, "-subject", t.run.cfg.Subject, "-results", results,
	}, args...)...)
	cmd.Dir, cmd.Env = t.dir(), baseEnv(filepath.Dir(t.Dir("tmp")))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends what it started
	cmd.WaitDelay = 15 * time.Second
	said, err := cmd.CombinedOutput()
	t.Keep("tool.txt", said)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal("%s: %v\n%s", released, err, said)
	}
	data, err := os.ReadFile(filepath.Join(results, file))
	if err == nil {
		err = json.Unmarshal(data, facts)
	}
	if err != nil {
		t.Fatal("%s: %v\n%s", released, err, said)
	}
}
