package seccomp

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

var archRefused = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB}

var archStrictly = []uint32{unix.SYS_MODIFY_LDT}
