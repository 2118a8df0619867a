package mcp

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// chunkPause is how long a server that writes in chunks waits after each, so
// that they do not arrive as one.
const chunkPause = time.Millisecond

// lines serialises writes, each of which is whole lines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
	// chunk is how many bytes go out at once; 0 is all.
	chunk int
	// crlf ends lines with a carriage return and a line feed.
	crlf bool
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := p
	if l.crlf {
		out = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	for l.chunk > 0 && len(out) > l.chunk {
		if _, err := l.w.Write(out[:l.chunk]); err != nil {
			return 0, err
		}
		out = out[l.chunk:]
		time.Sleep(chunkPause)
	}
	if _, err := l.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
