package external

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"bridgecheck/ref/sandbox"
)

// ProxyPort is the loopback port that leads out of the sandbox.
const ProxyPort = 18080

// Launcher launches agents by a helper, one each.
type Launcher struct {
	// Command makes the command of the helper, which calls [Serve]; its streams,
	// descriptors and attributes are set here. See [Self].
	Command func() *exec.Cmd
	// Hosts has the backend's own proxy lead out of the sandbox, with an allowlist,
	// where otherwise the port leads to a socket of the bridge's.
	Hosts bool
	// Name is the subject's, "" for one that is made of the backend's.
	Name string

	mu    sync.Mutex
	about *About // once it was asked
}

// Spec is an agent to launch. Of the sandbox's, Landlock is always on, and Ports is
// ProxyPort or nothing; a field that the backend does not honour is refused.
type Spec struct {
	sandbox.Spec
	// Dir is a directory of mode 0700 of the bridge's own, for sockets and the
	// helper's temporary files. It is without symbolic links and colons.
	Dir string
	// AllowedHosts are for a launcher with Hosts; none is an empty list, which
	// allows nothing.
	AllowedHosts []AllowedHost
}

// Has tells whether the backend honours a field.
func (a About) Has(f Field) bool { return slices.Contains(a.Fields, f) }

// String is the name with the versions.
func (a About) String() string {
	var versions []string
	for _, of := range slices.Sorted(maps.Keys(a.Versions)) {
		versions = append(versions, of+" "+a.Versions[of])
	}
	if versions == nil {
		return a.Name
	}
	return a.Name + " (" + strings.Join(versions, ", ") + ")"
}

// setUp bounds the time until an agent runs, or a helper has told what it is.
const setUp = 30 * time.Second

// About asks a helper what it is, once. Of the two ways to a proxy only the one
// of this launcher is left.
func (l *Launcher) About(ctx context.Context) (About, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.about != nil {
		return *l.about, nil
	}
	ctx, cancel := context.WithTimeout(ctx, setUp)
	defer cancel()
	said, err := newCapture()
	if err != nil {
		return About{}, err
	}
	h, err := startHelper(ctx, l.Command(), "", nil, nil, said.write)
	if err != nil {
		return About{}, said.explain(err)
	}
	state := h.end()
	said.text()
	if state != "exit status 0" {
		return About{}, &HelperError{fmt.Errorf("asked only what it is, it ended with %s", state)}
	}
	about := l.own(h.About)
	l.about = &about
	return about, nil
}

// own leaves out the field of the other way.
func (l *Launcher) own(a About) About {
	other := FieldAllowedHosts
	if l.Hosts {
		other = FieldProxySocket
	}
	a.Fields = slices.DeleteFunc(slices.Clone(a.Fields), func(f Field) bool { return f == other })
	return a
}

// Proxy is the field by which the sandbox's port leads out.
func (l *Launcher) Proxy() Field {
	if l.Hosts {
		return FieldAllowedHosts
	}
	return FieldProxySocket
}

// Launch rehearses with the bridge's own program in the agent's place, and then
// has a helper ready that waits for Start. A Spec that is not honoured gives a
// *sandbox.Refusal, a host that does not allow it or a layer that is not in force
// a *sandbox.Failure, a broken helper a *HelperError; nothing is left of any.
func (l *Launcher) Launch(ctx context.Context, s Spec) (*Sandbox, error) {
	ctx, cancel := context.WithTimeout(ctx, setUp)
	defer cancel()
	about, err := l.About(ctx)
	if err != nil {
		return nil, err
	}
	launch, err := l.plan(about, &s)
	if err != nil {
		return nil, err
	}
	layers, err := l.rehearse(ctx, about, s, launch)
	if err != nil {
		return nil, err
	}
	return l.ready(ctx, s, launch, layers)
}

// plan puts a Spec into the backend's terms.
func (l *Launcher) plan(about About, s *Spec) (Launch, error) {
	if err := refuse(about, s); err != nil {
		return Launch{}, err
	}
	chosen := s.Seccomp
	if chosen == "" {
		s.Seccomp = sandbox.Baseline // for the check alone
	}
	view, err := sandbox.Look(s.Spec)
	s.Seccomp = chosen
	if err != nil {
		return Launch{}, err
	}
	launch := Launch{
		Path: view.Path, Args: s.Args, Env: s.Env, Cwd: s.Cwd,
		RO: append(view.RO, exist(devicesRO)...), RW: append(view.RW, exist(devicesRW)...),
		OwnNetwork: s.Level == sandbox.Isolated || s.Level == "",
		OwnPIDs:    s.Level != sandbox.SharedNone && about.Has(FieldOwnPIDs),
		Seccomp:    string(s.Seccomp),
		Memory:     s.Limits.Memory, PIDs: s.Limits.PIDs, Files: s.Limits.Files,
	}
	if len(s.Ports) > 0 && l.Hosts {
		launch.AllowedHosts = s.AllowedHosts
		if len(launch.AllowedHosts) == 0 {
			launch.AllowedHosts = nothing
		}
	}
	return launch, nil
}

// nothing is an allowlist that keeps a proxy running which refuses everything:
// where an empty one means none, the agent would find no proxy at its address.
// The name can never be one (RFC 6761, section 6.4).
var nothing = []AllowedHost{{Host: "nothing.is.allowed.invalid", Port: 1}}
