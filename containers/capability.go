package containers

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// capabilityNames are the capabilities of capabilities(7), by number.
var capabilityNames = [...]string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID",
	"SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW",
	"IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT",
	"SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD",
	"LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG",
	"WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
}

// missingCapabilities names the capabilities outside the bounding set that status,
// the text of a /proc/PID/status, shows. last is the highest capability the kernel
// knows.
func missingCapabilities(status string, last int) ([]string, error) {
	for line := range strings.Lines(status) {
		value, found := strings.CutPrefix(line, "CapBnd:")
		if !found {
			continue
		}
		bounding, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("read the bounding set: %w", err)
		}
		var missing []string
		for number, name := range capabilityNames {
			if number <= last && bounding&(1<<number) == 0 {
				missing = append(missing, name)
			}
		}
		return missing, nil
	}
	return nil, fmt.Errorf("read the bounding set: no line CapBnd")
}

// ownMissingCapabilities is missingCapabilities of this process; nil when /proc
// does not tell.
func ownMissingCapabilities() []string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	text, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err != nil {
		return nil
	}
	last, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil
	}
	missing, err := missingCapabilities(string(status), last)
	if err != nil {
		return nil
	}
	return missing
}
