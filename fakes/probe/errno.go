package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errnoOf names what an error is: a symbolic errno, timeout, eof or other. The
// errno comes first, since ETIMEDOUT is the kernel's word and calls itself a
// timeout as well.
func errnoOf(err error) string {
	var errno syscall.Errno
	var timeout net.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &errno):
		switch name := unix.ErrnoName(errno); name {
		case "":
			return "other"
		case "ENOTSUP": // the same number on Linux, whose manual pages say
			return "EOPNOTSUPP"
		default:
			return name
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "eof"
	}
	return "other"
}
