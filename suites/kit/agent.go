package kit

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
)

// Agent is a running probe, inside a sandbox or outside of one. Its attempts
// run one after the other; it is not safe for concurrent use.
type Agent struct {
	t     *T
	where string
	nonce string
	stdin io.WriteCloser
	lines *bufio.Reader
	next  int
	// harness marks a probe outside: that it does not answer is no finding.
	harness bool
	facts   *attempt.Facts
	// beside runs when the next attempt is sent, ahead before its answer is read.
	beside, ahead func()
	// ended says how the process ended, for a message when it does not answer.
	ended func() string

	mu         sync.Mutex
	transcript []byte
}

// maxObservation bounds one line of the probe.
const maxObservation = 64 << 20

// hello sends the order. Nothing is awaited: the first attempt is.
func (a *Agent) hello(hostNetNS uint64) error {
	return a.write(attempt.Order{HostNetNS: hostNetNS, Nonce: a.nonce})
}

func (a *Agent) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	a.record(line)
	_, err = a.stdin.Write(line)
	return err
}

// Feed makes an attempt that reads raw bytes of standard input, and sends the
// bytes after it.
func (a *Agent) Feed(ctx context.Context, att attempt.Attempt, raw io.Reader) attempt.Observation {
	ginkgo.GinkgoHelper()
	fed := make(chan struct{})
	a.beside = func() {
		defer close(fed)
		_, _ = io.Copy(a.stdin, raw) // bytes that do not arrive show in what the probe read
	}
	obs := a.Do(ctx, att)
	<-fed
	return obs
}

// Drain makes an attempt that writes raw bytes to standard output, and hashes
// the size of them that come.
func (a *Agent) Drain(ctx context.Context, att attempt.Attempt, size int64) (attempt.Observation, string) {
	ginkgo.GinkgoHelper()
	var came content.Digest
	a.ahead = func() { _, _ = io.CopyN(&came, a.lines, size) } // what is missing shows in the hash
	obs := a.Do(ctx, att)
	return obs, came.SHA256()
}

func (a *Agent) record(line []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(line) > 4096 {
		line = append(line[:4096:4096], "…\n"...)
	}
	a.transcript = append(a.transcript, line...)
}

// Do makes one attempt and returns what the probe observed. That the probe does
// not answer fails the check; that it declines is an error of the harness.
func (a *Agent) Do(ctx context.Context, att attempt.Attempt) attempt.Observation {
	ginkgo.GinkgoHelper()
	if !a.harness {
		a.t.last = &made{a, att}
	}
	obs, err := a.Try(ctx, att)
	if err != nil && a.harness {
		a.t.Fatal("the probe %s did not answer %s: %v\n%s", a.where, att.Op, err, a.ended())
	}
	if err != nil {
		ginkgo.Fail(fmt.Sprintf("the probe %s did not answer %s: %v\n%s", a.where, att.Op, err, a.ended()))
	}
	return obs
}

// Try is for an attempt that the agent may not survive: the error says that there
// was no answer.
func (a *Agent) Try(ctx context.Context, att attempt.Attempt) (attempt.Observation, error) {
	ginkgo.GinkgoHelper()
	obs, err := a.try(ctx, att)
	if obs.Refused != "" {
		a.t.Fatal("probe %s declined %s: %s", a.where, att.Op, obs.Refused)
	}
	return obs, err
}

func (a *Agent) try(ctx context.Context, att attempt.Attempt) (attempt.Observation, error) {
	a.next++
	att.ID = a.next
	if err := a.write(att); err != nil {
		return attempt.Observation{}, err
	}
	if a.beside != nil {
		go a.beside()
	}
	ahead := a.ahead
	a.beside, a.ahead = nil, nil
	limit := 15 * time.Second
	if own := time.Duration(att.TimeoutMS) * time.Millisecond; own > 0 {
		limit = own + 5*time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		obs attempt.Observation
		err error
	}
	got := make(chan answer, 1)
	go func() {
		if ahead != nil {
			ahead()
		}
		obs, err := a.read(att.ID)
		got <- answer{obs, err}
	}()
	select {
	case g := <-got:
		return g.obs, g.err
	case <-ctx.Done():
		return attempt.Observation{}, fmt.Errorf("no answer within %s", limit)
	}
}

// read takes lines until the observation with the id and the nonce: whatever
// else a subject prints on its agent's output is not an answer.
func (a *Agent) read(id int) (attempt.Observation, error) {
	for {
		line, err := a.line()
		if err != nil {
			return attempt.Observation{}, err
		}
		a.record(line)
		var obs attempt.Observation
		if json.Unmarshal(line, &obs) == nil && obs.ID == id && obs.Nonce == a.nonce {
			return obs, nil
		}
	}
}

// line reads one whole line.
func (a *Agent) line() ([]byte, error) {
	var line []byte
	for {
		part, err := a.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case len(line) > maxObservation:
			return nil, fmt.Errorf("a line of more than %d bytes", maxObservation)
		}
	}
}

func newAgent(t *T, where string, stdin io.WriteCloser, stdout io.Reader) *Agent {
	return &Agent{t: t, where: where, nonce: rand.Text(), stdin: stdin, lines: bufio.NewReaderSize(stdout, 64<<10)}
}
