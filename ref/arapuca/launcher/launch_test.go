package launcher

import (
	"errors"
	"slices"
	"testing"

	arapuca "github.com/LeGambiArt/go-arapuca"

	"bridgecheck/ref/arapuca/internal/optional"
	"bridgecheck/ref/sandbox/external"
)

// TestExited: a death by signal is never an exit.
func TestExited(t *testing.T) {
	for _, tt := range []struct {
		code int
		err  error
		want external.Exited
		ok   bool
	}{
		{0, nil, external.Exited{}, true},
		{3, nil, external.Exited{Code: 3}, true},
		{0, errors.New("killed by signal 9"), external.Exited{Signal: 9}, true},
		{0, errors.New("arapuca: killed by signal 15"), external.Exited{Signal: 15}, true},
		{0, errors.New("killed by signal 0"), external.Exited{}, false},
		{0, errors.New("arapuca: wait: no such process"), external.Exited{}, false},
	} {
		got, err := exited(tt.code, tt.err)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%d, %v: got %+v, %v", tt.code, tt.err, got, err)
		}
	}
}

// TestAbout: what is told is what this build has, and that a double is one.
func TestAbout(t *testing.T) {
	for _, mode := range []Mode{Proxy, Hosts} {
		a := Backend{Mode: mode}.About()
		if !a.Double {
			t.Errorf("%s: %+v does not tell that it is a double", mode, a)
		}
		var cfg arapuca.Config
		if a.Has(external.FieldAllowedHosts) != (mode == Hosts && optional.Has(&cfg, "AllowedHosts")) ||
			a.Has(external.FieldOwnPIDs) != optional.Has(&cfg.Profile, "UsePidNS") || a.Has(external.FieldProxySocket) == (mode == Hosts) {
			t.Errorf("%s: fields %v", mode, a.Fields)
		}
	}
}

// TestConfig: nothing that a launch asks for is lost, and what this release lacks
// is refused.
func TestConfig(t *testing.T) {
	l := external.Launch{
		Path: "/bin/a", Env: []string{"A=b=c", "E="}, Cwd: "/w", RO: []string{"/r"}, RW: []string{"/w"},
		OwnNetwork: true, ProxySocket: "/s", Memory: 1<<20 + 1, PIDs: 7,
	}
	cfg, err := configOf(l)
	p := cfg.Profile
	if err != nil || cfg.Env["A"] != "b=c" || len(cfg.Env) != 2 || cfg.WorkDir != "/w" || cfg.NetworkProxySocket != "/s" ||
		!slices.Equal(p.ReadPaths, l.RO) || !slices.Equal(p.WritePaths, l.RW) || !p.UseNetNS || p.MaxMemoryMB != 2 || p.MaxPIDs != 7 {
		t.Errorf("%+v, %v", cfg, err)
	}
	for field, l := range map[string]external.Launch{
		"UsePidNS":       {OwnPIDs: true},
		"SeccompProfile": {Seccomp: "baseline"},
		"MaxOpenFiles":   {Files: 3},
	} {
		cfg, err := configOf(l)
		if known := optional.Has(&cfg.Profile, field); known != (err == nil) {
			t.Errorf("%s: known %v, %v", field, known, err)
		}
	}
	cfg, err = configOf(external.Launch{AllowedHosts: []external.AllowedHost{{Host: "*.a.example", Port: 443}}})
	if optional.Has(&cfg, "AllowedHosts") != (err == nil) {
		t.Errorf("AllowedHosts: %v", err)
	}
}

func TestMismatch(t *testing.T) {
	for _, tt := range []struct {
		library, program string
		ok               bool
	}{{"", "1", true}, {"1", "", true}, {"1", "1", true}, {"1", "2", false}} {
		if err := mismatch(map[string]string{"libarapuca": tt.library, "arapuca": tt.program}); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
