package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// What is kept of a server's stderr.
const (
	tailLines     = 20
	tailLineBytes = 1 << 10
)

// tail drains a server's stderr, so that it never blocks on it, and keeps the
// last lines for errors.
type tail struct {
	from    *os.File
	done    chan struct{}
	secrets hider // of what is shown

	mu    sync.Mutex
	lines []string
}

func newTail(from *os.File, server string, secrets hider, log *slog.Logger) *tail {
	t := &tail{from: from, done: make(chan struct{}), secrets: secrets}
	go t.drain(server, log)
	return t
}

func (t *tail) drain(server string, log *slog.Logger) {
	defer close(t.done)
	r := bufio.NewReaderSize(t.from, tailLineBytes)
	for cut := false; ; { // cut: the line goes on after what was kept
		part, err := r.ReadSlice('\n')
		if !cut && len(part) > 0 {
			line := strings.ToValidUTF8(string(bytes.TrimRight(part, "\r\n")), "\ufffd")
			log.Debug("stderr", "server", server, "line", line)
			t.keep(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		cut = err != nil
	}
}

func (t *tail) keep(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines = append(t.lines, line); len(t.lines) > tailLines {
		t.lines = t.lines[1:]
	}
}

// String is the last lines, joined by newlines, without secrets.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := make([]string, len(t.lines))
	for i, line := range t.lines {
		shown[i] = t.secrets.hide(line)
	}
	return strings.Join(shown, "\n")
}

// close waits for the end of the pipe, at most for d, and closes it.
func (t *tail) close(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
	_ = t.from.Close()
	<-t.done
}
