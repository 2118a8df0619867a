package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// MaxDescriptors is how many descriptors one message may carry; the kernel's
// SCM_MAX_FD is 253.
const MaxDescriptors = 250

// maxMessage bounds a message; the largest is a Report with its listeners.
const maxMessage = 64 << 10

// Send writes one message on a blocking SEQPACKET socket.
func Send(fd int, message any, descriptors ...int) error {
	b, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a control message: %w", err)
	}
	var oob []byte
	if len(descriptors) > 0 {
		oob = unix.UnixRights(descriptors...)
	}
	for {
		err = unix.Sendmsg(fd, b, oob, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Receive reads one message; io.EOF when the other side is gone. Descriptors
// that came along are close-on-exec.
func Receive(fd int, message any) (descriptors []int, err error) {
	b := make([]byte, maxMessage)
	oob := make([]byte, unix.CmsgSpace(4*MaxDescriptors))
	var n, oobn int
	for {
		n, oobn, _, _, err = unix.Recvmsg(fd, b, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if descriptors, err = rights(oob[:oobn]); err != nil {
		return descriptors, err
	}
	if n == 0 {
		return descriptors, io.EOF
	}
	if err := json.Unmarshal(b[:n], message); err != nil {
		return descriptors, fmt.Errorf("decode a control message: %w", err)
	}
	return descriptors, nil
}

func rights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("read a control message's descriptors: %w", err)
	}
	var all []int
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return all, fmt.Errorf("read a control message's descriptors: %w", err)
		}
		all = append(all, fds...)
	}
	return all, nil
}
