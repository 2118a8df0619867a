package external

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bridgecheck/ref/sandbox"
)

// answer is what the bridge says to a witness who asks by its socket.
func (s scene) answer() string { return "heard " + strings.TrimSpace(s.Say) }

// stage is what is put up for one rehearsal.
type stage struct {
	scene
	undo []func()
}

func (s *stage) later(undo func()) { s.undo = append(s.undo, undo) }

func (s *stage) clear() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
}

// rehearse launches this program in the agent's place and judges what it saw.
func (l *Launcher) rehearse(ctx context.Context, about About, s Spec, launch Launch) (map[string]string, error) {
	stage, err := l.setStage(s, &launch)
	defer stage.clear()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(stage.scene)
	if err != nil {
		return nil, err
	}
	launch.Args = []string{witnessRole, string(text)}
	f, err := l.play(ctx, s.Dir, launch)
	if err != nil {
		return nil, err
	}
	return judge(about, launch, stage.scene, f, observe())
}

// setStage makes what the witness is to see and not to see.
func (l *Launcher) setStage(s Spec, launch *Launch) (*stage, error) {
	st := &stage{}
	program, err := os.Executable()
	if err != nil {
		return st, &HelperError{err}
	}
	launch.Path = program
	// Limits are the agent's: what is enough for it may not be for this program.
	launch.Memory, launch.PIDs, launch.Files = 0, 0, 0
	launch.RO = append(slices.Clone(launch.RO), program, "/proc")
	dir, err := os.MkdirTemp(s.Dir, "r")
	if err != nil {
		return st, fmt.Errorf("rehearse: %w", err)
	}
	st.later(func() { _ = os.RemoveAll(dir) }) // the bridge's own goes as a whole
	st.Declared = filepath.Join(dir, "declared")
	files := []string{st.Declared}
	if !slices.ContainsFunc(launch.RW, func(p string) bool { return strings.HasPrefix(dir, strings.TrimSuffix(p, "/")+"/") }) {
		st.Hidden = filepath.Join(dir, "hidden")
		files = append(files, st.Hidden)
	}
	for _, f := range files {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			return st, fmt.Errorf("rehearse: %w", err)
		}
	}
	launch.RW = append(slices.Clone(launch.RW), st.Declared)
	if launch.OwnNetwork {
		st.hostPort()
	}
	if len(s.Ports) == 0 {
		return st, nil
	}
	st.Proxy, st.Say = fmt.Sprintf("127.0.0.1:%d", ProxyPort), "CONNECT bridge.rehearses.invalid:1 HTTP/1.1\r\nHost: bridge.rehearses.invalid:1\r\n\r\n"
	if l.Hosts {
		return st, nil
	}
	st.Say = rand.Text() + "\n"
	launch.ProxySocket, err = st.proxy(dir)
	return st, err
}

// hostPort opens a port of the host's loopback, if this host has one to reach.
func (s *stage) hostPort() {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return
	}
	s.later(func() { _ = l.Close() })
	if _, failure := converse(l.Addr().String(), ""); failure == "" {
		s.Host = l.Addr().String()
	}
}

// proxy answers at a socket in the place of the proxy.
func (s *stage) proxy(dir string) (path string, err error) {
	path = filepath.Join(dir, "p")
	l, err := listen(path)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.later(func() { cancel(); _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.reply(ctx, conn)
		}
	}()
	return path, nil
}

// reply answers the witness, and nobody else.
func (s *stage) reply(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	if line, _ := bufio.NewReader(conn).ReadString('\n'); line == s.Say {
		fmt.Fprintln(conn, s.answer())
	}
}

// play launches the witness and gives what it saw.
func (l *Launcher) play(ctx context.Context, dir string, launch Launch) (f facts, err error) {
	out, err := newCapture()
	if err != nil {
		return f, err
	}
	said, err := newCapture()
	if err != nil {
		out.text()
		return f, err
	}
	exit, err := l.perform(ctx, dir, launch, out.write, said.write)
	saw, words := out.text(), said.text()
	if err != nil {
		if helper, ok := errors.AsType[*HelperError](err); ok && words != "" {
			err = &HelperError{fmt.Errorf("%w: it said: %s", helper.Err, lastLines(words))}
		}
		return f, err
	}
	for line := range strings.Lines(saw) {
		if json.Unmarshal([]byte(line), &f) == nil && f.PID != 0 {
			return f, nil
		}
	}
	return f, died(exit, words)
}

// perform is one launch from beginning to end.
func (l *Launcher) perform(ctx context.Context, dir string, launch Launch, stdout, stderr *os.File) (exit sandbox.Exit, err error) {
	h, err := startHelper(ctx, l.Command(), dir, nil, stdout, stderr)
	if err != nil {
		return exit, err
	}
	box := &Sandbox{launch: launch, helper: h, done: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { _ = box.Kill() })
	defer stop()
	if err := box.Start(); err != nil {
		_ = box.Kill()
	}
	exit, err = box.Wait()
	if ctx.Err() != nil {
		return exit, sandbox.NewFailure(sandbox.StageReady, fmt.Errorf("the rehearsal did not end in time: %w", context.Cause(ctx)))
	}
	return exit, err
}
