package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// HostReport is what this host can and cannot, each line found by doing it.
type HostReport struct {
	Kernel   string    `json:"kernel"`
	UID      int       `json:"uid"`
	Findings []Finding `json:"findings"`
}

// Finding is one thing tried.
type Finding struct {
	Name   string   `json:"name"`
	OK     bool     `json:"ok"`
	Detail string   `json:"detail,omitempty"` // of what works: an ABI, a limitation
	Stage  string   `json:"stage,omitempty"`  // of what does not, as in Failure
	Errno  string   `json:"errno,omitempty"`  // its name, as in errno(3)
	Error  string   `json:"error,omitempty"`
	Causes []string `json:"causes,omitempty"`
}

// Level is the strongest level this host can make, "" when none.
func (r HostReport) Level() Level {
	for _, level := range []Level{Isolated, SharedUserNS, SharedNone} {
		for _, f := range r.Findings {
			if f.Name == string(level) && f.OK {
				return level
			}
		}
	}
	return ""
}

// TrialPIDs is the name of the finding that root is not held by RLIMIT_NPROC.
const TrialPIDs = "limit of processes"

// trial is one line of the report.
type trial struct {
	name string
	try  func() (detail string, err error)
}

// Probe tries each namespace by itself, each level as a whole, and each layer
// that does not need a level. It starts no agent and leaves nothing; it takes
// about 50 ms.
func Probe() HostReport {
	r := HostReport{Kernel: kernel(), UID: os.Geteuid()}
	for _, t := range append(namespaceTrials(), levelTrials()...) {
		f := Finding{Name: t.name}
		detail, err := t.try()
		var failure *Failure
		switch {
		case err == nil:
			f.OK, f.Detail = true, detail
		case errors.As(err, &failure):
			f.Stage, f.Errno, f.Error, f.Causes = failure.Stage, unix.ErrnoName(failure.Errno), failure.Err.Error(), failure.Causes
		default:
			f.Error = err.Error()
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

func kernel() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:]) + " " + unix.ByteSliceToString(name.Machine[:])
}

func namespaceTrials() []trial {
	var all []trial
	for _, ns := range []struct {
		name string
		flag uintptr
	}{
		{"userns", 0},
		{"netns", syscall.CLONE_NEWNET},
		{"pidns", syscall.CLONE_NEWPID},
		{"mountns", syscall.CLONE_NEWNS},
		{"ipcns", syscall.CLONE_NEWIPC},
		{"utsns", syscall.CLONE_NEWUTS},
	} {
		all = append(all, trial{ns.name, func() (string, error) { return "", clone(syscall.CLONE_NEWUSER | ns.flag) }})
	}
	return all
}

// clone starts this program in new namespaces, in which it ends at once.
func clone(flags uintptr) error {
	attr := attributes(SharedUserNS, nil)
	attr.Cloneflags, attr.AmbientCaps = flags, nil
	pid, err := syscall.ForkExec("/proc/self/exe", []string{wire.Arg0Nothing}, &syscall.ProcAttr{Dir: "/", Sys: attr})
	if err != nil {
		return NewFailure(StageClone, err)
	}
	wait(pid)
	return nil
}

func levelTrials() []trial {
	bare := Spec{Path: "/never-started", Cwd: "/", Seccomp: Off}
	at := func(level Level, change func(*Spec)) func() (*Sandbox, error) {
		spec := bare
		spec.Level = level
		if change != nil {
			change(&spec)
		}
		return func() (*Sandbox, error) { return try(spec) }
	}
	plain := func(f func() (*Sandbox, error)) func() (string, error) {
		return func() (string, error) { _, err := f(); return "", err }
	}
	return []trial{
		{"landlock", func() (string, error) {
			s, err := at(SharedNone, func(s *Spec) { s.Landlock = true })()
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("ABI %d", s.LandlockABI()), nil
		}},
		{"sockets", func() (string, error) { return refusesSockets(at(SharedNone, func(s *Spec) { s.Landlock = true })) }},
		{"seccomp", plain(at(SharedNone, func(s *Spec) { s.Seccomp = Baseline }))},
		{TrialPIDs, plain(at(SharedNone, func(s *Spec) { s.Limits.PIDs = 1 }))},
		{string(Isolated), func() (string, error) {
			s, err := at(Isolated, func(s *Spec) { s.Ports = []uint16{0} })()
			if err != nil {
				return "", err
			}
			if slices.ContainsFunc(s.Listeners(), func(l Listener) bool { return l.V6 }) {
				return "IPv4 and IPv6", nil
			}
			return "IPv4 only", nil
		}},
		{string(SharedUserNS), plain(at(SharedUserNS, nil))},
		{string(SharedNone), plain(at(SharedNone, nil))},
	}
}

// refusesSockets tells of what no level lacks or has by itself: that a Unix socket
// in a directory declared read-only stays one that the agent may connect to.
func refusesSockets(launch func() (*Sandbox, error)) (string, error) {
	s, err := launch()
	if err != nil {
		return "", err
	}
	if s.Layers()["sockets"] == "on" {
		return "refused in read-only directories", nil
	}
	return "", &Failure{
		Stage:  StageLandlock,
		Causes: []string{"the kernel's Landlock is older than ABI 9, which can refuse sockets: declare no directory in which a service of the host listens, or use a newer kernel"},
		Err:    fmt.Errorf("one in a read-only directory can be connected to (Landlock ABI %d)", s.LandlockABI()),
	}
}

// try makes a sandbox, starts nothing in it, ends it, and gives what it was.
func try(spec Spec) (*Sandbox, error) {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := s.Kill(); err != nil {
		return nil, fmt.Errorf("end the trial: %w", err)
	}
	_, _ = s.Wait() // it was killed: the error says so
	return s, nil
}
