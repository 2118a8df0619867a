package probe

import (
	"context"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// call makes one system call by name in a child of its own and reports its
// errno. Words replace the default arguments from the first on; PID is the
// process that some of them look at (the probe itself by default). Text is
// "passed" when the errno shows that no rule refused the call: it succeeded, or
// failed for the harmless arguments that it was given on purpose.
func (p *Probe) call(_ context.Context, a attempt.Attempt) attempt.Observation {
	prepare, found := calls[a.Call]
	if !found {
		return refused("unknown call %q", a.Call)
	}
	pid := a.PID
	if pid == 0 {
		pid = os.Getpid()
		// Yama, where there is one, would keep the child from its parent; without
		// it this is EINVAL.
		_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0)
	}
	buffers := new(buffers)
	plan := prepare(pid, buffers)
	if plan.missing {
		return refused("call %q does not exist on %s", a.Call, runtime.GOARCH)
	}
	last := &plan.steps[len(plan.steps)-1]
	if len(a.Words) > len(last.args) {
		return refused("%d words, at most %d", len(a.Words), len(last.args))
	}
	for i, word := range a.Words {
		last.args[i] = uintptr(word)
	}
	errno, err := inChild(plan.steps)
	runtime.KeepAlive(buffers)
	if err != nil {
		return failed(err)
	}
	var o attempt.Observation
	if errno == 0 || slices.Contains(plan.passes, errno) {
		o.Text = "passed"
	}
	if errno != 0 {
		note(&o, os.NewSyscallError(a.Call, errno))
	}
	return o
}

// plan is how a call is made.
type plan struct {
	steps []step
	// passes are errnos that come of the arguments alone, past all rules.
	passes []syscall.Errno
	// missing: the architecture has no such call.
	missing bool
}

// single is a plan of one system call.
func single(number uintptr, args ...uintptr) plan {
	s := step{number: number}
	copy(s.args[:], args)
	return plan{steps: []step{s}}
}

// with adds the errnos that count as passed.
func (p plan) with(passes ...syscall.Errno) plan {
	p.passes = passes
	return p
}

// after puts a step in front, whose value the constant result stands for.
func (p plan) after(number uintptr, args ...uintptr) plan {
	p.steps = append(single(number, args...).steps, p.steps...)
	return p
}

// x32Bit marks the x32 entry of the amd64 table.
const x32Bit = 0x40000000

// x32 enters by the x32 table, which only amd64 has.
func x32(number uintptr, args ...uintptr) plan {
	p := single(number|x32Bit, args...)
	p.missing = runtime.GOARCH != "amd64"
	return p
}

// gate32 enters by int 0x80, with numbers of the i386 table.
func gate32(number uintptr, args ...uintptr) plan {
	p := single(number, args...)
	p.steps[0].int80 = true
	p.missing = !int80Known
	return p
}

// The numbers of the i386 table that are tried by the 32-bit gate.
const (
	i386Unshare = 310
	i386Socket  = 359
)

// namespaceFlag is the default for the calls that make namespaces.
const namespaceFlag = unix.CLONE_NEWUSER
