package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"bridgecheck/ref/sandbox/internal/wire"
)

// Stages at which a launch can fail.
const (
	StageClone        = "clone"        // make the namespaces, map the user
	StageDescriptors  = "descriptors"  // close what is not declared
	StageLoopback     = "loopback"     // bring lo up
	StageListen       = "listen"       // make the listeners
	StagePaths        = "paths"        // open what is declared
	StageMounts       = "mounts"       // fill the new root
	StageProc         = "proc"         // mount a fresh /proc
	StagePivot        = "pivot"        // enter the new root
	StageCapabilities = "capabilities" // drop them
	StageNoNewPrivs   = "no-new-privs" // set it
	StageTerminal     = "terminal"     // make the sandbox's own
	StageLandlock     = "landlock"     // restrict paths
	StageSeccomp      = "seccomp"      // load the filter
	StageLimits       = "limits"       // bound memory, processes, descriptors
	StageSelfCheck    = "self-check"   // read everything back
	StageReady        = "ready"        // report
	StageInit         = "init"         // the init process itself
)

// Failure is a launch that the host did not allow. Nothing of it is left.
type Failure struct {
	Stage string        `json:"stage"`
	Errno syscall.Errno `json:"errno,omitempty"` // 0 where no system call was refused
	// Causes are the candidates that fit stage and errno, each with its fix; those
	// found to be so on this host come first.
	Causes []string `json:"causes,omitempty"`
	Err    error    `json:"-"`
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("launch: %s: %v", f.Stage, f.Err)
	if len(f.Causes) > 0 {
		text += "; possible causes: " + strings.Join(f.Causes, "; ")
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Err }

// NewFailure is one at a stage, with the causes that fit the errno in err.
func NewFailure(stage string, err error) *Failure {
	f := &Failure{Stage: stage, Err: err}
	errors.As(err, &f.Errno)
	f.Causes = causes(stage, f.Errno)
	return f
}

// reported is a failure that the init process told of.
func reported(w *wire.Failure) *Failure {
	errno := syscall.Errno(w.Errno)
	f := &Failure{Stage: w.Stage, Errno: errno, Err: errors.New(w.Text)}
	f.Causes = causes(w.Stage, errno)
	return f
}
