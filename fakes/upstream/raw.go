package upstream

import (
	"fmt"
	"io"
	"time"

	"bridgecheck/fakes/content"
)

// tickInterval is the pace of a Ticker.
const tickInterval = 100 * time.Millisecond

func echo(c *stream) {
	_, _ = io.Copy(c.Conn, c)
	_ = c.CloseWrite()
}

func speakFirst(c *stream) {
	_, _ = io.WriteString(c.Conn, Banner)
	echo(c)
}

func endFirst(c *stream) {
	_, _ = io.WriteString(c.Conn, Banner)
	_ = c.CloseWrite()
	discard(c)
}

func discard(c *stream) { _, _ = io.Copy(io.Discard, struct{ io.Reader }{c}) }

func sink(c *stream) {
	discard(c)
	c.mu.Lock()
	answer := fmt.Sprintf("%d %s\n", c.received.Bytes, c.received.SHA256())
	c.mu.Unlock()
	_, _ = io.WriteString(c.Conn, answer)
}

func source(c *stream) {
	order, err := io.ReadAll(io.LimitReader(c, 1<<10))
	if err != nil {
		return
	}
	var size int64
	var seed uint64
	if _, err := fmt.Sscan(string(order), &size, &seed); err != nil {
		_, _ = fmt.Fprintf(c.Conn, "send \"SIZE SEED\": %v\n", err)
		return
	}
	_, _ = io.Copy(c.Conn, content.Reader(seed, size))
}

// tick sends until the client is gone or the server closes.
func (s *Server) tick(c *stream) {
	s.done.Go(func() { discard(c) })
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	for {
		if _, err := c.Conn.Write([]byte{'.'}); err != nil {
			return
		}
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
