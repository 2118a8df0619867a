package external

import (
	"errors"
	"maps"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

// outside is what the bridge sees of itself, inside what a witness sees where
// everything is in force.
func outside() facts {
	return facts{PID: 700, Namespaces: map[string]uint64{"user": 1, "net": 2, "pid": 3, "mnt": 4, "ipc": 5, "uts": 6}}
}

func inside(s scene) facts {
	return facts{
		PID: 1, Namespaces: map[string]uint64{"user": 11, "net": 12, "pid": 13, "mnt": 4, "ipc": 5, "uts": 6},
		NoNewPrivs: true, Seccomp: filterMode, Filters: 1, Host: "ECONNREFUSED", Root: "EACCES", Marker: "ENOENT", Hidden: "EACCES", Answer: s.answer(),
	}
}

func TestJudge(t *testing.T) {
	socket := Launch{OwnNetwork: true, OwnPIDs: true, Seccomp: "baseline", ProxySocket: "/s"}
	hosts := Launch{OwnNetwork: true, OwnPIDs: true, Seccomp: "baseline", AllowedHosts: nothing}
	shared := Launch{Seccomp: "baseline"}
	for _, row := range []struct {
		name   string
		launch Launch
		change func(*scene, *facts)
		own    func(*facts)
		stage  string // "" is none
		errno  syscall.Errno
		reason string
	}{
		{"all in force", socket, nil, nil, "", 0, ""},
		{"hosts", hosts, func(_ *scene, f *facts) { f.Answer = "HTTP/1.1 403 Forbidden" }, nil, "", 0, ""},
		{"shared", shared, func(s *scene, f *facts) { s.Proxy, s.Host = "", ""; f.Namespaces = outside().Namespaces }, nil, "", 0, ""},
		{"own file tree", socket, func(_ *scene, f *facts) { f.Root, f.Marker, f.Hidden = "", "EACCES", "ENOENT" }, nil, "", 0, ""},
		{"in a container with a filter", socket, func(_ *scene, f *facts) { f.Filters = 2 }, func(o *facts) { o.Seccomp, o.Filters = filterMode, 1 }, "", 0, ""},

		{"no Landlock", socket, func(_ *scene, f *facts) { f.Root, f.Hidden = "", "" }, nil, sandbox.StageSelfCheck, 0, "layer landlock"},
		{"/ is shown", socket, func(_ *scene, f *facts) { f.Root = "" }, nil, sandbox.StageSelfCheck, 0, "layer landlock"},
		{"an undeclared file is shown", socket, func(_ *scene, f *facts) { f.Hidden = "" }, nil, sandbox.StageSelfCheck, 0, "layer landlock"},
		{"a declared file is not", socket, func(_ *scene, f *facts) { f.Declared = "EACCES" }, nil, sandbox.StageSelfCheck, 0, "declared"},
		{"privileges can be gained", socket, func(_ *scene, f *facts) { f.NoNewPrivs = false }, nil, sandbox.StageSelfCheck, 0, "layer no-new-privs"},
		{"the bridge's network", socket, func(_ *scene, f *facts) { f.Namespaces["net"] = 2 }, nil, sandbox.StageSelfCheck, 0, "layer netns"},
		{"the host answers", socket, func(_ *scene, f *facts) { f.Host = "" }, nil, sandbox.StageSelfCheck, 0, "the host's loopback answers"},
		{"network not known", socket, func(_ *scene, f *facts) { delete(f.Namespaces, "net") }, nil, sandbox.StageSelfCheck, 0, "layer netns"},
		{"the bridge's processes", socket, func(_ *scene, f *facts) { f.Namespaces["pid"] = 3 }, nil, sandbox.StageSelfCheck, 0, "layer pidns"},
		{"no filter", socket, func(_ *scene, f *facts) { f.Seccomp = 0 }, nil, sandbox.StageSelfCheck, 0, "layer seccomp"},
		{"the container's filter", socket, nil, func(o *facts) { o.Seccomp, o.Filters = filterMode, 1 }, sandbox.StageSelfCheck, 0, "layer seccomp"},
		{"whose filter is not known", socket, func(_ *scene, f *facts) { f.Filters = -1 }, func(o *facts) { o.Seccomp, o.Filters = filterMode, 1 }, sandbox.StageSelfCheck, 0, "layer seccomp"},
		{"shared without a filter", shared, func(s *scene, f *facts) { s.Proxy, f.Seccomp = "", 0 }, nil, sandbox.StageSelfCheck, 0, "layer seccomp"},
		{"nothing listens", socket, func(_ *scene, f *facts) { f.Proxy = "ECONNREFUSED" }, nil, sandbox.StageListen, unix.ECONNREFUSED, "127.0.0.1:18080"},
		{"lo is down", socket, func(_ *scene, f *facts) { f.Proxy = "ENETUNREACH" }, nil, sandbox.StageListen, unix.ENETUNREACH, "127.0.0.1:18080"},
		{"closed without a word", socket, func(_ *scene, f *facts) { f.Proxy = "EOF" }, nil, sandbox.StageListen, 0, "127.0.0.1:18080"},
		{"somebody else listens", socket, func(_ *scene, f *facts) { f.Answer = "hello" }, nil, sandbox.StageSelfCheck, 0, "somebody else"},
		{"an open proxy", hosts, func(_ *scene, f *facts) { f.Answer = "HTTP/1.1 200 Connection Established" }, nil, sandbox.StageSelfCheck, 0, "not allowed"},
		{"no proxy at all", hosts, func(_ *scene, f *facts) { f.Answer = "hello" }, nil, sandbox.StageSelfCheck, 0, "not allowed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := scene{Host: "127.0.0.1:4711", Proxy: "127.0.0.1:18080", Say: "word\n", Declared: "/d", Hidden: "/h"}
			f, own := inside(s), outside()
			if row.change != nil {
				row.change(&s, &f)
			}
			if row.own != nil {
				row.own(&own)
			}
			layers, err := judge(About{Name: "b"}, row.launch, s, f, own)
			if row.stage == "" {
				if err != nil || layers["landlock"] != on || layers["seccomp"] != on || layers["mountns"] != missing {
					t.Errorf("%v, %v", layers, err)
				}
				return
			}
			failure, ok := errors.AsType[*sandbox.Failure](err)
			if !ok || failure.Stage != row.stage || failure.Errno != row.errno || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("error %v, want stage %s, errno %d, %q", err, row.stage, row.errno, row.reason)
			}
		})
	}
}

// A filter that leaves no sockets of the internet is refused by name, with the
// fix, where the agent is to reach anything.
func TestJudgeStrictFilter(t *testing.T) {
	for _, row := range []struct {
		name    string
		launch  Launch
		proxy   string
		fields  []Field
		refused string
	}{
		{"proxy", Launch{OwnNetwork: true, Seccomp: "strict", ProxySocket: "/s"}, "127.0.0.1:18080", []Field{FieldSeccomp}, "write seccomp: baseline"},
		{"proxy, no choice", Launch{OwnNetwork: true, ProxySocket: "/s"}, "127.0.0.1:18080", nil, "use a version"},
		{"shared", Launch{Seccomp: "strict"}, "", []Field{FieldSeccomp}, "write seccomp: baseline"},
		{"nothing to reach", Launch{OwnNetwork: true, Seccomp: "strict"}, "", []Field{FieldSeccomp}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := scene{Proxy: row.proxy, Hidden: "/h"}
			f := inside(s)
			f.INET, f.Proxy, f.Host = "EPERM", "EPERM", "EPERM"
			_, err := judge(About{Name: "b", Fields: row.fields}, row.launch, s, f, outside())
			refused, ok := errors.AsType[*sandbox.Refusal](err)
			switch {
			case row.refused == "" && err != nil:
				t.Error(err)
			case row.refused != "" && (!ok || refused.Field != "Seccomp" || !strings.Contains(refused.Reason, row.refused)):
				t.Errorf("error %v, want %q", err, row.refused)
			}
		})
	}
}

// What a rehearsal says before it gives up is all that tells why.
func TestDied(t *testing.T) {
	for said, want := range map[string]struct {
		stage string
		errno syscall.Errno
	}{
		"unshare: unshare failed: Operation not permitted\n":                  {sandbox.StageClone, unix.EPERM},
		"unshare: unshare failed: No space left on device":                    {sandbox.StageClone, unix.ENOSPC},
		"arapuca: bridge: loopback: Operation not permitted (os error 1)":     {sandbox.StageLoopback, unix.EPERM},
		"arapuca: landlock: not enforced":                                     {sandbox.StageLandlock, 0},
		"arapuca: landlock: restrict: Function not implemented (os error 38)": {sandbox.StageLandlock, unix.ENOSYS},
		"arapuca: seccomp: Invalid argument (os error 22)":                    {sandbox.StageSeccomp, unix.EINVAL},
		"arapuca: cgroups: no controllers: limits cannot be enforced":         {sandbox.StageLimits, 0},
		"something about permission denied":                                   {sandbox.StageInit, unix.EACCES},
		"":                                                                    {sandbox.StageInit, 0},
		strings.Repeat("unshare: Operation not permitted\n", 1) + strings.Repeat("other\n", 2000): {sandbox.StageInit, 0},
	} {
		failure, ok := errors.AsType[*sandbox.Failure](died(sandbox.Exit{Code: 1}, said))
		if ok && failure.Errno != 0 && strings.Count(strings.ToLower(failure.Err.Error()), failure.Errno.Error()) != 1 {
			t.Errorf("%.60q says its errno more or less than once: %v", said, failure.Err)
		}
		if !ok || failure.Stage != want.stage || failure.Errno != want.errno {
			t.Errorf("%.60q: %+v, want %+v", said, failure, want)
		}
	}
}

func TestDiedBySignal(t *testing.T) {
	for sig, want := range map[syscall.Signal]string{unix.SIGSYS: sandbox.StageSeccomp, unix.SIGKILL: sandbox.StageInit} {
		failure, ok := errors.AsType[*sandbox.Failure](died(sandbox.Exit{Signal: sig}, ""))
		if !ok || failure.Stage != want || failure.Errno != 0 || !strings.Contains(failure.Error(), unix.SignalName(sig)) {
			t.Errorf("signal %d: %v", sig, failure)
		}
	}
}

func TestRefuse(t *testing.T) {
	about := About{Name: "b", Versions: map[string]string{"b": "1"}, Fields: []Field{FieldProxySocket, FieldOwnNetwork}}
	base := Spec{Dir: "/d"}
	base.Ports = []uint16{ProxyPort}
	if err := refuse(about, &base); err != nil {
		t.Errorf("what it honours: %v", err)
	}
	for field, changes := range map[string][]func(*Spec){
		"TTY":         {func(s *Spec) { s.TTY = true }},
		"Descriptors": {func(s *Spec) { s.Descriptors = []int{5} }},
		"Sockets":     {func(s *Spec) { s.Sockets = []sandbox.Sockets{{}} }},
		"Ports": {
			func(s *Spec) { s.Ports = []uint16{ProxyPort, 9000} }, func(s *Spec) { s.Ports = []uint16{9000} },
			func(s *Spec) { s.Ports = []uint16{ProxyPort, ProxyPort} }, func(s *Spec) { s.Level = sandbox.SharedUserNS },
		},
		"Seccomp": {func(s *Spec) { s.Seccomp = sandbox.Off }, func(s *Spec) { s.Seccomp = sandbox.Baseline }, func(s *Spec) { s.Seccomp = sandbox.Strict }},
		"Limits": {
			func(s *Spec) { s.Limits.Memory = 1 }, func(s *Spec) { s.Limits.PIDs = 1 }, func(s *Spec) { s.Limits.Files = 1 },
		},
		"Dir": {func(s *Spec) { s.Dir = "/d:1" }},
	} {
		for _, change := range changes {
			s := base
			change(&s)
			refused, ok := errors.AsType[*sandbox.Refusal](refuse(about, &s))
			if !ok || refused.Field != field || refused.Reason == "" {
				t.Errorf("%s: %v", field, refused)
			}
		}
	}
	for _, field := range []Field{FieldProxySocket, FieldOwnNetwork} {
		less := About{Name: "b"}
		for _, f := range about.Fields {
			if f != field {
				less.Fields = append(less.Fields, f)
			}
		}
		if err := refuse(less, &base); err == nil {
			t.Errorf("without %s it is honoured", field)
		}
	}
}

func TestErrnoNamed(t *testing.T) {
	want := map[string]syscall.Errno{"EPERM": unix.EPERM, "ENOSPC": unix.ENOSPC, "EHWPOISON": unix.EHWPOISON, "": 0, "ENOTHING": 0}
	got := map[string]syscall.Errno{}
	for name := range want {
		got[name] = errnoNamed(name)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
