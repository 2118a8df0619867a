package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref/sandbox"
)

// The roles of this binary: helper, sandbox, witness, agent.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector sleeps a second at every exit
	Main(func(args []string) Backend { return newFake(args) })
	sandbox.Main()
	Witness()
	if len(os.Args) > 2 && os.Args[1] == "fake-agent" {
		os.Exit(fakeAgent(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

func fakeAgent(args []string) int {
	switch args[0] {
	case "exit":
		code, _ := strconv.Atoi(args[1])
		return code
	case "copy":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "env":
		_ = json.NewEncoder(os.Stdout).Encode(os.Environ())
	case "say":
		answer, failure := converse("127.0.0.1:"+strconv.Itoa(ProxyPort), args[1]+"\n")
		fmt.Println(answer + failure)
	case "raise":
		n, _ := strconv.Atoi(args[1])
		_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
		<-time.After(time.Hour)
	case "wait":
		fmt.Println("waiting")
		<-time.After(time.Hour)
	}
	return 0
}

// fake is a backend over the native sandbox, which lacks what it is told to.
type fake struct{ faults []string }

func newFake(faults []string) *fake { return &fake{faults} }

func (f *fake) lacks(fault string) bool { return slices.Contains(f.faults, fault) }

var allFields = []Field{FieldProxySocket, FieldAllowedHosts, FieldOwnNetwork, FieldOwnPIDs, FieldSeccomp, FieldMemory, FieldFiles}

func (f *fake) About() About {
	if f.lacks("about") {
		fmt.Fprintln(os.Stderr, "fake: no such library")
		os.Exit(3)
	}
	fields := slices.DeleteFunc(slices.Clone(allFields), func(x Field) bool { return f.lacks("no-" + string(x)) })
	return About{Name: "fake", Versions: map[string]string{"fake": "1"}, Double: true, Fields: fields}
}

// own are the trees that the native sandbox has of its own.
func own(p string) bool { return strings.HasPrefix(p, "/dev/") || p == "/proc" }

func (f *fake) Launch(ctx context.Context, l Launch, stdin, stdout, stderr *os.File) (Process, error) {
	switch {
	case f.lacks("refuse"):
		return nil, &Refused{Field: "Env", Reason: "HOME cannot be set: leave it out"}
	case f.lacks("fail"):
		return nil, &Failed{Stage: sandbox.StageClone, Errno: "ENOSPC", Reason: "unshare"}
	case f.lacks("break"):
		return nil, errors.New("out of order")
	case f.lacks("die"):
		os.Exit(125)
	case f.lacks("hang"):
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s := sandbox.Spec{
		Path: l.Path, Args: l.Args, Env: l.Env, Cwd: l.Cwd, Stdin: stdin, Stdout: stdout, Stderr: stderr,
		RO: slices.DeleteFunc(l.RO, own), RW: slices.DeleteFunc(l.RW, own), Level: sandbox.Isolated,
		Landlock: !f.lacks("landlock"), Seccomp: sandbox.Profile(l.Seccomp),
	}
	if f.lacks("seccomp") {
		s.Seccomp = sandbox.Off
	}
	if !l.OwnNetwork || f.lacks("network") {
		s.Level = sandbox.SharedUserNS
	}
	if f.lacks("pids") {
		s.Level = sandbox.SharedNone
	}
	if s.Level == sandbox.Isolated && l.ProxySocket != "" && !f.lacks("proxy") {
		s.Ports = []uint16{ProxyPort}
	}
	box, err := sandbox.Launch(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, door := range box.Listeners() {
		go f.relay(door, l.ProxySocket)
	}
	return &running{box}, box.Start()
}

// relay leads what comes in to the socket; one that is broken answers itself.
func (f *fake) relay(door net.Listener, socket string) {
	for {
		conn, err := door.Accept()
		if err != nil {
			return
		}
		if f.lacks("relay") {
			fmt.Fprintln(conn, "somebody else")
			conn.Close()
			continue
		}
		far, err := net.Dial("unix", socket)
		if err != nil {
			conn.Close()
			continue
		}
		go func() { _, _ = io.Copy(far, conn); far.Close() }()
		go func() { _, _ = io.Copy(conn, far); conn.Close() }()
	}
}

type running struct{ *sandbox.Sandbox }

func (r *running) PID() int { return r.Sandbox.PID() }

func (r *running) Wait() (Exited, error) {
	exit, err := r.Sandbox.Wait()
	if exit.Signal != 0 {
		err = nil // killed as a whole
	}
	return Exited{Code: exit.Code, Signal: int(exit.Signal)}, err
}
