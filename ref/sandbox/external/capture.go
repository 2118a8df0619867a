package external

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// capture keeps what a helper and its children say on a stream, its last part.
type capture struct {
	write *os.File // for the child; closed by text
	read  *os.File
	done  chan struct{}
	kept  []byte
}

// captured is how many bytes are kept.
const captured = 64 << 10

func newCapture() (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, &HelperError{err}
	}
	c := &capture{write: w, read: r, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			c.kept = append(c.kept, buf[:n]...)
			if over := len(c.kept) - captured; over > 0 {
				c.kept = c.kept[over:]
			}
			if err != nil {
				return
			}
		}
	}()
	return c, nil
}

// text ends the capture, when the helper has ended. Something of its children's
// that still holds the stream is not waited for.
func (c *capture) text() string {
	const late = time.Second
	_ = c.write.Close()
	_ = c.read.SetReadDeadline(time.Now().Add(late))
	<-c.done
	_ = c.read.Close()
	return string(c.kept)
}

// explain ends the capture and adds what was said last to err.
func (c *capture) explain(err error) error {
	if said := lastLines(c.text()); said != "" {
		return fmt.Errorf("%w: it said: %s", err, said)
	}
	return err
}

// lastLines is what a program says before it gives up, in one line.
func lastLines(text string) string {
	const most = 3
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(strings.Join(lines[max(0, len(lines)-most):], "; "))
}
