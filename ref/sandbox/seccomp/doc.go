// Package seccomp writes the agent's system call filter as classic BPF.
//
// The filter is a list of what is refused; see seccomp(2) and the kernel's
// Documentation/userspace-api/seccomp_filter.rst. Four rules keep it sound:
//
//   - the architecture is judged first, so that the 32-bit entry of the kernel
//     (int 0x80) and x32 answer ENOSYS and never meet a number of another table;
//   - a number newer than this package knows answers ENOSYS: a program falls
//     back, and a future call is not allowed by accident;
//   - only the low word of an argument is compared where the kernel uses only
//     the low word: ioctl(0, 1<<32|TIOCSTI) is TIOCSTI;
//   - each block loads the number again: a block before it may have left an
//     argument in the accumulator.
//
// clone3 and io_uring answer ENOSYS rather than EPERM because the C libraries
// and runtimes then use clone and epoll, which the filter can judge.
package seccomp
