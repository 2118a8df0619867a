package kit

import (
	"context"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// WithKnob starts the subject in a denied or limited environment; the name is
// one of those of fakes/knob. That the environment really is one is tried
// first, by a probe: a knob without effect is an error of the harness.
func WithKnob(name string) Option { return func(s *start) { s.knob = name } }

// command is the subject's command line, with what it is to run in before it.
func (s *start) command(cfg Config, args []string) []string {
	line := append([]string{cfg.Subject}, args...)
	if s.knob == "" {
		return line
	}
	return append([]string{cfg.Knob, s.knob, "--"}, line...)
}

// denial is what a knob denies, and how that shows.
type denial struct {
	try    attempt.Attempt
	errnos []string
}

func namespaces(flags uint64) attempt.Attempt {
	return attempt.Attempt{Op: attempt.OpCall, Call: "unshare", Words: []uint64{flags}}
}

var (
	landlock = attempt.Attempt{Op: attempt.OpCall, Call: "landlock_create_ruleset"}
	denials  = map[string]denial{
		"max-user-ns=0": {namespaces(unix.CLONE_NEWUSER), []string{"ENOSPC"}},
		"max-net-ns=0":  {namespaces(unix.CLONE_NEWUSER | unix.CLONE_NEWNET), []string{"ENOSPC"}},
		"chroot":        {namespaces(unix.CLONE_NEWUSER), []string{"EPERM"}},
		"deny-userns":   {namespaces(unix.CLONE_NEWUSER), []string{"EPERM"}},
		"deny-netns":    {namespaces(unix.CLONE_NEWUSER | unix.CLONE_NEWNET), []string{"EPERM"}},
		"deny-pidns":    {namespaces(unix.CLONE_NEWUSER | unix.CLONE_NEWPID), []string{"EPERM"}},
		"deny-netlink":  {attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0}}, []string{"EPERM"}},
		"no-landlock":   {landlock, []string{"ENOSYS"}},
		"landlock-off":  {landlock, []string{"EOPNOTSUPP", "ENOTSUP"}},
		"no-ipv6":       {attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{unix.AF_INET6, unix.SOCK_STREAM, 0}}, []string{"EAFNOSUPPORT"}},
	}
)

// tryKnob makes the attempt that the knob denies, in its environment, once a
// check. The probe has ended when it returns, so that it is no stray.
func (t *T) tryKnob(ctx context.Context, name string) {
	ginkgo.GinkgoHelper()
	d, known := denials[name]
	switch {
	case name == "" || slices.Contains(t.knobs, name):
		return
	case !known:
		t.Fatal("knob %s: nothing shows that it has an effect", name)
	}
	cmd := exec.Command(t.run.cfg.Knob, name, "--", t.run.cfg.Probe)
	cmd.Dir = t.dir()
	cmd.Env = append(baseEnv(cmd.Dir), "TMPDIR="+t.Dir("knob"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr := &tail{}
	cmd.Stderr, cmd.WaitDelay = stderr, time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal("knob %s: %v", name, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal("knob %s: %v", name, err)
	}
	defer func() {
		_ = stdin.Close() // the probe ends
		_ = cmd.Wait()    // what it did has been told
	}()
	a := newAgent(t, "behind knob "+name, stdin, stdout)
	a.harness, a.ended = true, stderr.String
	if err := a.hello(t.run.cfg.HostNetNS); err != nil {
		t.Fatal("knob %s: %v", name, err)
	}
	if got := a.Do(ctx, d.try); !slices.Contains(d.errnos, got.Errno) {
		t.Fatal("knob %s has no effect: %s gave %s", name, d.try.Op, describeObservation(got))
	}
	t.knobs = append(t.knobs, name)
}
