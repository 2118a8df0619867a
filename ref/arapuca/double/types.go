//go:build !go_arapuca_020

package arapuca

import (
	"fmt"
	"os"
)

// SeccompProfileKind is the system call filter.
type SeccompProfileKind string

// The filters; the zero value is strict.
const (
	SeccompProfileDefault  SeccompProfileKind = ""
	SeccompProfileStrict   SeccompProfileKind = "strict"
	SeccompProfileBaseline SeccompProfileKind = "baseline"
)

// Profile is what a sandboxed process may use; 0 is no limit.
type Profile struct {
	ReadPaths        []string
	WritePaths       []string
	MaxMemoryMB      uint64
	MaxCPUPct        uint32
	MaxPIDs          uint32
	MaxFileSizeMB    uint64
	MaxOpenFiles     uint64
	UseNetNS         bool
	UsePidNS         bool
	DnsCapture       bool
	AllowExec        bool
	CgroupBestEffort bool
	SeccompProfile   SeccompProfileKind
	Isolation        *MicroVmIsolation
}

// AllowedHost is a rule of the proxy: a name, or a suffix that begins with a dot.
type AllowedHost struct {
	Host string
	Port uint16
}

// Config is one launch.
type Config struct {
	Profile            Profile
	SocketDir          string
	TaskID             string
	Phase              string
	WorkDir            string
	Stdin              *os.File
	Stdout             *os.File
	Stderr             *os.File
	NetworkProxySocket string
	AllowedHosts       []AllowedHost
	Env                map[string]string
}

// EnableSelfExecMode is of no effect here: see [SetProgram].
func EnableSelfExecMode() {}

func settingsOf(cfg Config) (settings, error) {
	p := cfg.Profile
	s := settings{seccomp: string(p.SeccompProfile), pidNS: p.UsePidNS, files: p.MaxOpenFiles}
	switch p.SeccompProfile {
	case SeccompProfileDefault, SeccompProfileStrict, SeccompProfileBaseline:
	default:
		return s, fmt.Errorf("arapuca: unknown seccomp profile %q", p.SeccompProfile)
	}
	if p.DnsCapture && !p.UseNetNS && len(cfg.AllowedHosts) == 0 {
		return s, fmt.Errorf("arapuca: DnsCapture requires UseNetNS")
	}
	for _, h := range cfg.AllowedHosts {
		s.hosts = append(s.hosts, rule{h.Host, h.Port})
	}
	return s, nil
}
