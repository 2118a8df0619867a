package probe

// int80Known: this architecture has a 32-bit gate to try.
const int80Known = true

// int80 makes a system call by the 32-bit gate, with up to three arguments, and
// returns what the kernel left in EAX. Without IA-32 emulation in the kernel it
// ends the process with SIGSEGV.
//
//go:noescape
func int80(number, a, b, c uintptr) uintptr
