package inside

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"bridgecheck/ref/sandbox/internal/wire"
)

// abis are the library's presets; index 0 is ABI 1.
var abis = []landlock.Config{
	landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
	landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11,
}

// ABI levels that brought a right which has to be asked for.
const (
	abiRefer       = 2
	abiIoctl       = 5
	abiResolveUnix = 9
)

// landlocked restricts the calling thread to the declared paths, and to its own
// abstract sockets and signals where the kernel has scopes (ABI 6). TCP is left
// to the network namespace. Nothing is "best effort": the ABI is asked for
// first, and what it has is applied or fails.
func landlocked(cfg *wire.Config) (abi int, err error) {
	abi, err = ll.LandlockGetABIVersion()
	if err != nil {
		return 0, fmt.Errorf("landlock_create_ruleset(VERSION): %w", err)
	}
	abi = min(abi, len(abis))
	if abi < 1 {
		return 0, fmt.Errorf("the kernel's Landlock ABI is %d", abi)
	}
	ruleset := abis[abi-1]
	ruleset.HandledAccessNet = 0
	fd, flags, err := ruleset.NewRulesetFD(rules(cfg, abi)...)
	if err != nil {
		return 0, fmt.Errorf("build the Landlock ruleset: %w", err)
	}
	defer closeFD(fd)
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return 0, fmt.Errorf("landlock_restrict_self: %w", err)
	}
	return abi, nil
}

func rules(cfg *wire.Config, abi int) []landlock.Rule {
	var all []landlock.Rule
	if cfg.Stepped() {
		all = append(all, landlock.ROFiles(ownProgram))
	}
	writable := func(r landlock.FSRule, dir bool) {
		if dir && abi >= abiRefer {
			r = r.WithRefer()
		}
		if abi >= abiIoctl {
			r = r.WithIoctlDev()
		}
		if abi >= abiResolveUnix {
			r = r.WithResolveUnix()
		}
		all = append(all, r)
	}
	for _, m := range cfg.Mounts {
		switch {
		case m.Write && m.Dir:
			writable(landlock.RWDirs(m.Path), true)
		case m.Write:
			writable(landlock.RWFiles(m.Path), false)
		case m.Connect && abi >= abiResolveUnix:
			all = append(all, landlock.RODirs(m.Path).WithResolveUnix())
		case m.Dir:
			all = append(all, landlock.RODirs(m.Path))
		default:
			all = append(all, landlock.ROFiles(m.Path))
		}
	}
	if cfg.Level == wire.SharedNone {
		for _, dev := range devices {
			writable(landlock.RWFiles("/dev/"+dev).IgnoreIfMissing(), false)
		}
		return append(all, landlock.RODirs("/proc"))
	}
	for _, dir := range []string{"/tmp", "/dev", "/proc"} {
		writable(landlock.RWDirs(dir), true)
	}
	// The new root may be listed; what is in it is governed by the rules above.
	return append(all, landlock.PathAccess(ll.AccessFSReadDir, "/"))
}
