//go:build !amd64

package probe

// int80Known: there is no 32-bit gate on this architecture.
const int80Known = false

func int80(_, _, _, _ uintptr) uintptr { return 0 }
