package external

import "os"

// The devices that every program expects. Others of the host's are not shown.
var (
	devicesRO = []string{"/dev/random", "/dev/urandom"}
	devicesRW = []string{"/dev/full", "/dev/null", "/dev/zero"}
)

func exist(paths []string) (there []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			there = append(there, p)
		}
	}
	return there
}
