package ara

import (
	"os"

	arapuca "github.com/LeGambiArt/go-arapuca"

	"bridgecheck/ref/arapuca/internal/optional"
	"bridgecheck/ref/sandbox"
)

// needed are the paths that programs need to start and to look at themselves.
var needed = []string{"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/proc"}

// configOf is the library's configuration; the error says what this release
// lacks.
func configOf(l Launch) (cfg arapuca.Config, args []string, err error) {
	cfg = arapuca.Config{
		TaskID: l.TaskID, WorkDir: l.WorkDir, NetworkProxySocket: l.ProxySocket, Env: map[string]string{},
	}
	for name, value := range l.Env {
		cfg.Env[name] = string(value)
	}
	for _, a := range l.Args {
		args = append(args, string(a))
	}
	p := &cfg.Profile
	p.ReadPaths = append(p.ReadPaths, l.Read...)
	for _, path := range append(append([]string{l.Command}, needed...), sandbox.SystemPaths...) {
		if _, err := os.Stat(path); err == nil {
			p.ReadPaths = append(p.ReadPaths, path)
		}
	}
	p.WritePaths = l.Write
	p.UseNetNS = l.NetNS
	if l.PIDNS {
		if err := optional.Set(p, "UsePidNS", true); err != nil {
			return cfg, nil, err
		}
	}
	if l.Seccomp != "" {
		if err := optional.Set(p, "SeccompProfile", l.Seccomp); err != nil {
			return cfg, nil, err
		}
	}
	if optional.Has(p, "AllowExec") {
		if err := optional.Set(p, "AllowExec", true); err != nil {
			return cfg, nil, err
		}
	}
	for _, h := range l.AllowedHosts {
		if err := optional.Append(&cfg, "AllowedHosts", map[string]any{"Host": h.Host, "Port": h.Port}); err != nil {
			return cfg, nil, err
		}
	}
	return cfg, args, nil
}
