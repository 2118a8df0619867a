package arapuca

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// MicroVmIsolation asks for a virtual machine, which the double has not.
type MicroVmIsolation struct {
	Distro, Version, ImagePath string
	CPUs, MemMB                uint32
}

// Sandbox launches processes.
type Sandbox struct {
	mu     sync.Mutex
	closed bool
}

// running are all processes, which NewKills ends.
var running struct {
	sync.Mutex
	all map[*Process]bool
}

// New makes a sandbox.
func New() (*Sandbox, error) {
	if err := behaviour.Check(); err != nil {
		return nil, err
	}
	if behaviour.Has(behaviour.NewKills) {
		running.Lock()
		defer running.Unlock()
		for p := range running.all {
			p.kill()
		}
	}
	return &Sandbox{}, nil
}

// CgroupsAvailable tells whether limits can be set by control groups.
func (s *Sandbox) CgroupsAvailable() bool { return false }

// Close releases the sandbox; it may be called more than once.
func (s *Sandbox) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Launch starts cmd. The process ends when the context does.
func (s *Sandbox) Launch(ctx context.Context, cfg Config, cmd string, args []string, extraFiles []*os.File) (*Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("arapuca: sandbox already closed")
	}
	if cfg.Profile.Isolation != nil {
		return nil, errors.New("arapuca: microvm support not compiled (build with -tags microvm)")
	}
	line, err := commandLine(cfg, cmd, args, len(extraFiles))
	if err != nil {
		return nil, err
	}
	env, err := environment(cfg)
	if err != nil {
		return nil, err
	}
	dir, err := MakeTmpDir(cfg.TaskID)
	if err != nil {
		return nil, err
	}
	p, err := start(cfg, append([]string{"arapuca", "launch", "--tmp", dir}, line...), env, extraFiles, dir)
	if err != nil {
		_ = os.RemoveAll(dir) // what could not be started has left it empty
		return nil, err
	}
	context.AfterFunc(ctx, func() {
		if !behaviour.Has(behaviour.CancelNoop) {
			p.kill()
		}
	})
	return p, nil
}
