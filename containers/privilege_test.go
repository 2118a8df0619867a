package containers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
)

// fakeEngine starts containers by the rules measured on real engines.
type fakeEngine struct {
	lacks      []string // capabilities outside its bounding set
	remapped   bool     // userns-remap
	unreadable bool     // refuses everything
	asked      []container.HostConfig
}

func (e *fakeEngine) start(f form) (string, error) {
	var host container.HostConfig
	f.apply(&host)
	e.asked = append(e.asked, host)
	switch {
	case e.unreadable:
		return "", errors.New("exec format error")
	case host.Privileged && e.remapped:
		return "", errors.New("privileged mode is incompatible with user namespaces")
	case host.Privileged && len(e.lacks) > 0:
		return "", errors.New("unable to apply caps: operation not permitted")
	}
	if slices.Contains(host.CapAdd, "ALL") {
		for _, name := range e.lacks {
			if !slices.Contains(host.CapDrop, name) {
				return "", errors.New("unable to apply caps: operation not permitted")
			}
		}
	}
	return "container", nil
}

func TestStrongestFormThatWorks(t *testing.T) {
	for _, test := range []struct {
		name    string
		engine  fakeEngine
		missing []string // of this process
		want    string
		refused int
	}{
		{name: "all capabilities", want: "privileged"},
		{
			name: "the engine lacks what we lack", engine: fakeEngine{lacks: []string{"SYS_RESOURCE"}},
			missing: []string{"SYS_RESOURCE"}, want: "all capabilities but SYS_RESOURCE, unconfined", refused: 1,
		},
		{
			name:   "the engine lacks the usual one, we lack none",
			engine: fakeEngine{lacks: []string{"SYS_RESOURCE"}}, want: "all capabilities but SYS_RESOURCE, unconfined", refused: 1,
		},
		{
			name:    "the engine lacks two, and so do we",
			engine:  fakeEngine{lacks: []string{"SYS_MODULE", "SYS_RESOURCE"}},
			missing: []string{"SYS_MODULE", "SYS_RESOURCE"}, want: "all capabilities but SYS_MODULE, SYS_RESOURCE, unconfined", refused: 1,
		},
		{
			name:    "we lack one the engine has",
			missing: []string{"SYS_BOOT"}, want: "privileged",
		},
		{
			name: "the engine lacks another one, which nobody tells", engine: fakeEngine{lacks: []string{"SYS_BOOT"}},
			want: "the engine's default capabilities with NET_ADMIN, SYS_ADMIN and SYS_PTRACE, unconfined", refused: 2,
		},
		{
			name: "user namespaces remapped", engine: fakeEngine{remapped: true},
			want: "all capabilities but SYS_RESOURCE, unconfined", refused: 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, name, refused, err := strongest(t.Context(), forms(test.missing), test.engine.start)
			if err != nil || got != "container" || name != test.want || len(refused) != test.refused {
				t.Errorf("got %q, %q, refused %q, %v; want the form %q after %d refusals", got, name, refused, err, test.want, test.refused)
			}
			for _, host := range test.engine.asked {
				if !host.Privileged && (host.MaskedPaths == nil || host.ReadonlyPaths == nil || len(host.SecurityOpt) != 2) {
					t.Errorf("not unconfined: %+v; nil paths mean the engine's default masks", host)
				}
			}
		})
	}
}

func TestNoFormWorks(t *testing.T) {
	engine := fakeEngine{unreadable: true}
	_, _, refused, err := strongest(t.Context(), forms(nil), engine.start)
	if err == nil || len(refused) != 3 || strings.Count(err.Error(), "exec format error") != 3 {
		t.Errorf("got refused %q, %v; want the reason of each of three forms", refused, err)
	}
}

func TestCancelledSearchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	engine := fakeEngine{unreadable: true}
	_, _, refused, err := strongest(ctx, forms(nil), func(f form) (string, error) {
		cancel()
		return engine.start(f)
	})
	if !errors.Is(err, context.Canceled) || len(refused) != 1 {
		t.Errorf("got %v after %d refusals, want context.Canceled after one", err, len(refused))
	}
}

func TestMissingCapabilities(t *testing.T) {
	for _, test := range []struct {
		name, status string
		last         int
		want         []string
		fails        bool
	}{
		{name: "all", status: "CapEff:\t0\nCapBnd:\t000001ffffffffff\n", last: 40},
		{name: "without SYS_RESOURCE", status: "CapBnd:\t000001fffeffffff\n", last: 40, want: []string{"SYS_RESOURCE"}},
		{name: "old kernel without the last one", status: "CapBnd:\t000000ffffffffff\n", last: 39},
		{name: "first and last", status: "CapBnd:\t000000fffffffffe\n", last: 40, want: []string{"CHOWN", "CHECKPOINT_RESTORE"}},
		{name: "no line", status: "CapEff:\t0\n", last: 40, fails: true},
		{name: "no number", status: "CapBnd:\tx\n", last: 40, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := missingCapabilities(test.status, test.last)
			if !slices.Equal(got, test.want) || (err != nil) != test.fails {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}
