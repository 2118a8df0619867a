package kit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"bridgecheck/suites/subject"
)

// Control is the harness's end of a control stream.
type Control struct {
	phase   *Phase
	conn    *os.File
	mu      sync.Mutex
	next    int
	waiting map[int]chan subject.Reply
}

func newControl(p *Phase) (*Control, []*os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("control stream: %w", err)
	}
	// The subject gets a blocking descriptor, as from any caller.
	if err := syscall.SetNonblock(fds[1], false); err != nil {
		return nil, nil, fmt.Errorf("control stream: %w", err)
	}
	c := &Control{phase: p, conn: os.NewFile(uintptr(fds[0]), "control"), waiting: map[int]chan subject.Reply{}}
	go c.listen()
	return c, []*os.File{os.NewFile(uintptr(fds[1]), "control")}, nil
}

func (c *Control) listen() {
	lines := bufio.NewScanner(c.conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var head struct {
			ID *int `json:"id"`
		}
		var reply subject.Reply
		if json.Unmarshal(lines.Bytes(), &head) != nil || head.ID == nil {
			continue // an event
		}
		if json.Unmarshal(lines.Bytes(), &reply) != nil {
			continue
		}
		c.mu.Lock()
		if w := c.waiting[reply.ID]; w != nil {
			delete(c.waiting, reply.ID)
			w <- reply
		}
		c.mu.Unlock()
	}
}

// Do sends a command and waits for its reply; not to get one fails the check.
func (c *Control) Do(ctx context.Context, cmd subject.Command) subject.Reply {
	ginkgo.GinkgoHelper()
	reply := c.Send(cmd)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	select {
	case r := <-reply:
		return r
	case <-ctx.Done():
		ginkgo.Fail(fmt.Sprintf("control: no reply to %s %s\n%s", cmd.Op, cmd.Name, c.phase.fate()))
	}
	return subject.Reply{}
}

// Send sends a command and returns where its reply will come.
func (c *Control) Send(cmd subject.Command) <-chan subject.Reply {
	reply := make(chan subject.Reply, 1)
	c.mu.Lock()
	c.next++
	cmd.ID = c.next
	c.waiting[cmd.ID] = reply
	c.mu.Unlock()
	line, err := json.Marshal(cmd)
	if err == nil {
		// A subject that is gone shows as a missing reply.
		_, _ = c.conn.Write(append(line, '\n'))
	}
	return reply
}

// Close ends the stream from the harness's side.
func (c *Control) Close() { c.close() }

func (c *Control) close() { c.conn.Close() }

// BeOK wants a reply without a refusal.
func BeOK() types.GomegaMatcher {
	return matcher{"a reply that is ok", func(got any) (bool, error) {
		reply, isReply := got.(subject.Reply)
		if !isReply {
			return false, fmt.Errorf("harness: %T is no reply", got)
		}
		return reply.OK, nil
	}}
}
