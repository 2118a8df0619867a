package launcher

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	arapuca "github.com/LeGambiArt/go-arapuca"

	"bridgecheck/ref/arapuca/internal/optional"
	"bridgecheck/ref/sandbox/external"
)

// configOf puts a launch into go-arapuca's terms.
func configOf(l external.Launch) (arapuca.Config, error) {
	cfg := arapuca.Config{
		TaskID: "bridge-" + strconv.Itoa(os.Getpid()), WorkDir: l.Cwd,
		NetworkProxySocket: l.ProxySocket, Env: map[string]string{},
	}
	for _, kv := range l.Env {
		name, value, _ := strings.Cut(kv, "=")
		cfg.Env[name] = value
	}
	p := &cfg.Profile
	p.ReadPaths, p.WritePaths = l.RO, l.RW
	p.UseNetNS = l.OwnNetwork
	p.MaxMemoryMB = uint64((l.Memory + 1<<20 - 1) >> 20) // never less than asked for
	p.MaxPIDs = uint32(l.PIDs)
	sometimes := []struct {
		field  string
		value  any
		wanted bool
	}{
		{"UsePidNS", l.OwnPIDs, l.OwnPIDs},
		{"SeccompProfile", l.Seccomp, l.Seccomp != ""},
		{"MaxOpenFiles", uint64(l.Files), l.Files > 0},
		// A release without it lets everything that can be read be executed.
		{"AllowExec", true, optional.Has(p, "AllowExec")},
	}
	for _, o := range sometimes {
		if !o.wanted {
			continue
		}
		if err := optional.Set(p, o.field, o.value); err != nil {
			return cfg, err
		}
	}
	for _, h := range l.AllowedHosts {
		if err := optional.Append(&cfg, "AllowedHosts", map[string]any{"Host": suffix(h.Host), "Port": h.Port}); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// suffix is a rule as the library writes it: it takes "*." literally.
func suffix(host string) string {
	if name, ok := strings.CutPrefix(host, "*."); ok {
		return "." + name
	}
	return host
}

// mismatch tells of a library and a program of two versions.
func mismatch(versions map[string]string) error {
	library, program := versions["libarapuca"], versions["arapuca"]
	if library == "" || program == "" || library == program {
		return nil
	}
	return fmt.Errorf("libarapuca is %s and the program arapuca %s: install both of one version", library, program)
}
