package ref_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"bridgecheck/ref/config"
	"bridgecheck/ref/sandbox"
	"bridgecheck/ref/sandbox/external"
)

// backend is one over the native sandbox, without the fields that it is told to
// lack, and with the behaviour that is no field's name.
type backend []string

func (b backend) has(word string) bool { return slices.Contains(b, word) }

func (b backend) About() external.About {
	fields := []external.Field{external.FieldProxySocket, external.FieldAllowedHosts, external.FieldOwnNetwork, external.FieldOwnPIDs, external.FieldSeccomp, external.FieldMemory, external.FieldFiles}
	return external.About{
		Name: "fake", Versions: map[string]string{"fake": "1.2"}, Double: true, Connections: 64, IdleSeconds: 300, HeadBytes: 2048,
		Fields: slices.DeleteFunc(fields, func(f external.Field) bool { return b.has(string(f)) }),
	}
}

func (b backend) Launch(ctx context.Context, l external.Launch, stdin, stdout, stderr *os.File) (external.Process, error) {
	if b.has("fail") && l.OwnNetwork {
		return nil, &external.Failed{Stage: sandbox.StageClone, Errno: "ENOSPC", Reason: "unshare"}
	}
	if b.has("die") && !slices.Contains(l.RO, "/proc") { // not in the rehearsal
		os.Exit(125)
	}
	native := func(p string) bool { return strings.HasPrefix(p, "/dev/") || p == "/proc" }
	s := sandbox.Spec{
		Path: l.Path, Args: l.Args, Env: l.Env, Cwd: l.Cwd, Stdin: stdin, Stdout: stdout, Stderr: stderr, Level: sandbox.SharedUserNS,
		RO: slices.DeleteFunc(l.RO, native), RW: slices.DeleteFunc(l.RW, native), Landlock: true, Seccomp: sandbox.Profile(l.Seccomp),
	}
	if l.OwnNetwork {
		s.Level = sandbox.Isolated
	} else if !l.OwnPIDs {
		s.Level = sandbox.SharedNone
	}
	if l.ProxySocket != "" || l.AllowedHosts != nil {
		s.Ports = []uint16{config.ProxyPort}
	}
	box, err := sandbox.Launch(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, door := range box.Listeners() {
		go relay(door, l)
	}
	return process{box}, box.Start()
}

// relay leads to the socket, or tells the allowlist.
func relay(door net.Listener, l external.Launch) {
	for {
		conn, err := door.Accept()
		if err != nil {
			return
		}
		if l.ProxySocket == "" {
			go func() {
				_, _ = conn.Read(make([]byte, 4096))
				list := fmt.Sprint(l.AllowedHosts)
				fmt.Fprintf(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%s", len(list), list)
				conn.Close()
			}()
			continue
		}
		far, err := net.Dial("unix", l.ProxySocket)
		if err != nil {
			conn.Close()
			continue
		}
		go func() { _, _ = io.Copy(far, conn); _ = far.(*net.UnixConn).CloseWrite() }()
		go func() { _, _ = io.Copy(conn, far); conn.Close() }()
	}
}

type process struct{ *sandbox.Sandbox }

func (p process) Wait() (external.Exited, error) {
	exit, err := p.Sandbox.Wait()
	if exit.Signal != 0 {
		err = nil // killed as a whole
	}
	return external.Exited{Code: exit.Code, Signal: int(exit.Signal)}, err
}
