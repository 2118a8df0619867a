package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/sandbox/external"
)

// launched is the name under which this test binary is the program with a launcher
// of its own.
const launched = "launched"

// asLaunched does not return where this binary is that program, or its helper.
func asLaunched() {
	external.Main(func([]string) external.Backend { return backend{} })
	if os.Args[0] == launched {
		Main("", &external.Launcher{Command: external.Self(), Name: "ref-box"})
	}
}

// backend launches nothing.
type backend struct{}

func (backend) About() external.About {
	return external.About{Name: "box", Versions: map[string]string{"box": "3"}, Double: true, Fields: []external.Field{external.FieldOwnNetwork, external.FieldProxySocket}}
}

func (backend) Launch(context.Context, external.Launch, *os.File, *os.File, *os.File) (external.Process, error) {
	return nil, errors.New("the box is closed")
}

// One executable is the program and its helper; what it says of itself is the
// launcher's.
func TestLauncher(t *testing.T) {
	describe := program(t, "describe")
	describe.Args[0] = launched
	code, out, stderr := run(t, describe)
	var d ref.Description
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, stderr %q", code, err, stderr)
	}
	if d.Name != "ref-box" || d.Versions["box"] != "3" || !d.Double || slices.Contains(d.Capabilities, "pidns") || !slices.Contains(d.Capabilities, "netns") {
		t.Errorf("%+v", d)
	}
	for _, row := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"run", "--spec", "s.json"}, 125, "the launcher's helper: the box is closed"},
		{[]string{"doctor"}, 125, "unknown command"},
	} {
		cmd := program(t, row.args...)
		cmd.Args[0] = launched
		write(t, cmd, "s.json", `{"agent": {"path": "/bin/true"}}`)
		if code, _, stderr := run(t, cmd); code != row.code || !strings.Contains(stderr, row.says) {
			t.Errorf("%q: exit %d, stderr %q", row.args, code, stderr)
		}
	}
}
