package external

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

// error is what a helper reported in the terms of the native sandbox.
func (r report) error() error {
	switch {
	case r.Refused != nil:
		return &sandbox.Refusal{Field: r.Refused.Field, Reason: r.Refused.Reason}
	case r.Failed != nil && r.Failed.Stage == StageBackend:
		return &HelperError{errors.New(r.Failed.Reason)}
	case r.Failed != nil:
		return sandbox.NewFailure(r.Failed.Stage, withErrno(r.Failed.Reason, errnoNamed(r.Failed.Errno)))
	}
	return &HelperError{errors.New("it said what makes no sense here")}
}

// withErrno is an error that says text and is errno, unless that is 0.
func withErrno(text string, errno syscall.Errno) error {
	switch {
	case errno == 0:
		return errors.New(text)
	case strings.Contains(strings.ToLower(text), errno.Error()):
		return &spoken{text, errno}
	}
	return fmt.Errorf("%s: %w", text, errno)
}

// spoken is an errno of which a text speaks.
type spoken struct {
	text  string
	errno syscall.Errno
}

func (s *spoken) Error() string { return s.text }

func (s *spoken) Unwrap() error { return s.errno }

// maxErrno is where those of a Linux system end.
const maxErrno = 133

// errnoNamed gives 0 for a name that is none.
func errnoNamed(name string) syscall.Errno {
	for e := syscall.Errno(1); e <= maxErrno; e++ {
		if name != "" && unix.ErrnoName(e) == name {
			return e
		}
	}
	return 0
}

// stages are by the words with which programs speak of them.
var stages = []struct{ word, stage string }{
	{"landlock", sandbox.StageLandlock},
	{"seccomp", sandbox.StageSeccomp},
	{"loopback", sandbox.StageLoopback},
	{"rlimit", sandbox.StageLimits},
	{"cgroup", sandbox.StageLimits},
	{"mount", sandbox.StageMounts},
	{"unshare", sandbox.StageClone},
	{"namespace", sandbox.StageClone},
}

// Explain makes a failure of what a library or a program said when it gave up: the
// stage and the errno are those that its last words speak of. Without an errno it
// is no failure that a weaker sandbox would answer.
func Explain(said string) *Failed {
	f := &Failed{Stage: sandbox.StageInit, Reason: lastLines(said)}
	words := strings.ToLower(f.Reason)
	for _, s := range stages {
		if strings.Contains(words, s.word) {
			f.Stage = s.stage
			break
		}
	}
	if errno := errnoIn(words); errno != 0 {
		f.Errno = unix.ErrnoName(errno)
	}
	return f
}

// died is a rehearsal in which the program did not come to say anything.
func died(exit sandbox.Exit, said string) error {
	f := Explain(said)
	how := fmt.Sprintf("code %d", exit.Code)
	switch {
	case exit.Signal == unix.SIGSYS:
		f.Stage, how = sandbox.StageSeccomp, "SIGSYS: its filter kills a program that does nothing unusual"
	case exit.Signal != 0:
		how = unix.SignalName(exit.Signal)
	}
	f.Reason = strings.TrimSuffix("the rehearsal ended with "+how+": "+f.Reason, ": ")
	return report{Failed: f}.error()
}

// errnoIn finds the errno that a text speaks of, in the words of strerror(3).
func errnoIn(text string) syscall.Errno {
	for _, e := range []syscall.Errno{
		unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.EAFNOSUPPORT, unix.ENODEV, unix.EUSERS, unix.E2BIG,
	} {
		if strings.Contains(text, e.Error()) {
			return e
		}
	}
	return 0
}
