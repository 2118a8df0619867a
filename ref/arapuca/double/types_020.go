//go:build go_arapuca_020

package arapuca

import "os"

// Profile is what a sandboxed process may use; 0 is no limit.
type Profile struct {
	ReadPaths     []string
	WritePaths    []string
	MaxMemoryMB   uint64
	MaxCPUPct     uint32
	MaxPIDs       uint32
	MaxFileSizeMB uint64
	UseNetNS      bool
	Isolation     *MicroVmIsolation
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
	Env                map[string]string
}

// settingsOf: a library of that time knows one filter, in which INET sockets work.
func settingsOf(Config) (settings, error) { return settings{seccomp: "baseline"}, nil }
