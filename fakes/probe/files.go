package probe

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

func (p *Probe) readFile(_ context.Context, a attempt.Attempt) attempt.Observation {
	file, err := os.OpenFile(a.Path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, bodyBytes))
	o := failed(err)
	o.Text, o.Bytes = string(data), int64(len(data))
	return o
}

// open opens and closes, no more: nothing is truncated, a pipe without a peer
// does not wait, a terminal does not become the controlling one. What create
// made is removed again.
func (p *Probe) open(_ context.Context, a attempt.Attempt) attempt.Observation {
	flags, create := unix.O_RDONLY, false
	for _, word := range a.Args {
		switch word {
		case "r":
		case "w":
			flags |= unix.O_WRONLY
		case "rw":
			flags |= unix.O_RDWR
		case "create":
			flags |= unix.O_CREAT | unix.O_EXCL
			create = true
		default:
			return refused("open with %q", word)
		}
	}
	fd, err := unix.Open(a.Path, flags|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return failed(&os.PathError{Op: "open", Path: a.Path, Err: err})
	}
	_ = unix.Close(fd)
	if create {
		_ = os.Remove(a.Path)
	}
	return attempt.Observation{}
}

func (p *Probe) listDir(_ context.Context, a attempt.Attempt) attempt.Observation {
	entries, err := os.ReadDir(a.Path)
	o := failed(err)
	for _, entry := range entries {
		o.Names = append(o.Names, entry.Name())
	}
	return o
}

// socket makes a socket and closes it.
func (p *Probe) socket(_ context.Context, a attempt.Attempt) attempt.Observation {
	if len(a.Words) != 3 {
		return refused("socket needs family, type and protocol")
	}
	fd, err := unix.Socket(int(a.Words[0]), int(a.Words[1])|unix.SOCK_CLOEXEC, int(a.Words[2]))
	if err != nil {
		return failed(os.NewSyscallError("socket", err))
	}
	_ = unix.Close(fd)
	return attempt.Observation{}
}
