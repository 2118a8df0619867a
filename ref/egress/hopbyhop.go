package egress

import (
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// hopByHop are the fields for one connection alone (RFC 9110 section 7.6.1, RFC
// 9112 section 9.7, RFC 2616 section 13.5.1); those that Connection names come
// on top.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Proxy-Authenticate", "Proxy-Authorization", "Expect",
}

// copyHeader copies the end-to-end fields.
func copyHeader(dst, src http.Header) {
	drop := slices.Clone(hopByHop)
	for _, name := range []string{"Connection", "Proxy-Connection"} {
		for _, v := range src[name] {
			for _, t := range tokens(v) {
				drop = append(drop, http.CanonicalHeaderKey(t))
			}
		}
	}
	for name, values := range src {
		if !slices.Contains(drop, name) {
			dst[name] = slices.Clone(values)
		}
	}
}

// idleTimer cancels an exchange in which nothing moves.
type idleTimer struct {
	after time.Duration
	timer *time.Timer
	over  atomic.Bool
}

func newIdleTimer(after time.Duration, cancel func()) *idleTimer {
	t := &idleTimer{after: after}
	t.timer = time.AfterFunc(after, func() { t.over.Store(true); cancel() })
	return t
}

func (t *idleTimer) touch()      { t.timer.Reset(t.after) }
func (t *idleTimer) stop()       { t.timer.Stop() }
func (t *idleTimer) fired() bool { return t.over.Load() }

// body touches the timer with every read of a request body.
func (t *idleTimer) body(b io.ReadCloser) io.ReadCloser { return &touching{b, t} }

type touching struct {
	io.ReadCloser
	t *idleTimer
}

func (b *touching) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.t.touch()
	return n, err
}
