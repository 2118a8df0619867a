package ref

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"bridgecheck/ref/mcpserver"
)

// command is one line of the control stream, reply its answer (contract 1.7).
type command struct {
	ID        int    `json:"id"`
	Op        string `json:"op"`
	Name      string `json:"name"`
	TimeoutMS int    `json:"timeout_ms"`
}

type reply struct {
	ID      int            `json:"id"`
	OK      bool           `json:"ok"`
	Reason  string         `json:"reason,omitempty"`
	Detail  string         `json:"detail,omitempty"`
	How     string         `json:"how,omitempty"`
	TookMS  int64          `json:"took_ms,omitempty"`
	Results []serverResult `json:"results,omitempty"`
}

type serverResult struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
	How    string `json:"how,omitempty"`
}

// healthBound is the time for a health check that names none.
const healthBound = 5 * time.Second

// maxCommand bounds a line of the control stream.
const maxCommand = 64 << 10

// commands are those being carried out. None begins once the phase ends.
type commands struct {
	mu    sync.Mutex
	ended bool
	wg    sync.WaitGroup
}

// run carries out f beside the others; at the end of the phase it does nothing.
func (c *commands) run(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.wg.Go(f)
	}
}

// end waits for what is being carried out.
func (c *commands) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.wg.Wait()
}

// obey carries out commands, each on its own goroutine: a stop that takes its
// grace must not hold up the health check of another server. The end of the
// stream ends the phase, since whoever started it is gone.
func (p *phase) obey(ctx context.Context) {
	if p.opt.Control == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var running commands
	p.later(func() error {
		cancel()
		running.end()
		return nil
	})
	go func() {
		defer close(p.quit)
		lines := bufio.NewScanner(p.opt.Control)
		lines.Buffer(make([]byte, 0, 4096), maxCommand)
		for lines.Scan() {
			var c command
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				p.answer(reply{ID: c.ID, Reason: "bad-command", Detail: err.Error()})
				continue
			}
			if c.Op == "quit" {
				p.answer(reply{ID: c.ID, OK: true})
				return
			}
			running.run(func() {
				begun := time.Now()
				r := p.carryOut(ctx, c)
				r.ID, r.TookMS = c.ID, time.Since(begun).Milliseconds()
				p.answer(r)
			})
		}
	}()
}

// answer writes one line.
func (p *phase) answer(r reply) {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.opt.Control.Write(append(line, '\n'))
	}
	if err != nil {
		p.blind(fmt.Errorf("answer command %d: %w", r.ID, err))
	}
}

func (p *phase) carryOut(ctx context.Context, c command) reply {
	switch c.Op {
	case "start":
		return p.start(ctx, c.Name)
	case "stop":
		err := p.manager.Stop(c.Name)
		return outcome(reply{How: p.how(c.Name, err)}, err, "stop-failed")
	case "health":
		bound := healthBound
		set(&bound, milliseconds(c.TimeoutMS))
		ctx, cancel := context.WithTimeout(ctx, bound)
		defer cancel()
		return outcome(reply{}, p.manager.HealthCheck(ctx, c.Name), "dead")
	case "stop-all":
		return p.stopAll()
	}
	return reply{Reason: "bad-command", Detail: "op is start, stop, health, stop-all or quit"}
}

func (p *phase) start(ctx context.Context, name string) reply {
	d := p.doorTo(name)
	if d == nil {
		return outcome(reply{}, mcpserver.ErrUnknown, "")
	}
	_, err := p.manager.Start(ctx, name, p.serverConfig(d))
	return outcome(reply{}, err, "start-failed")
}

// stopAll stops what runs, side by side; one that fails keeps no other.
func (p *phase) stopAll() reply {
	results := make([]serverResult, len(p.doors))
	var wg sync.WaitGroup
	for i, d := range p.doors {
		wg.Go(func() {
			err := p.manager.Stop(d.server.Name)
			one := outcome(reply{}, err, "stop-failed")
			results[i] = serverResult{Name: d.server.Name, OK: one.OK, Reason: one.Reason, How: p.how(d.server.Name, err)}
		})
	}
	wg.Wait()
	all := reply{OK: true}
	for _, one := range results {
		if one.Reason == reasonNotRunning {
			continue // there was nothing to stop
		}
		if !one.OK {
			all.OK, all.Reason = false, "stop-failed"
		}
		all.Results = append(all.Results, one)
	}
	return all
}

// how is the step that ended the server, of a stop that did it.
func (p *phase) how(name string, err error) string {
	if err != nil {
		return ""
	}
	return p.manager.StopHow(name)
}

const reasonNotRunning = "not-running"

// outcome puts err into the contract's words; other is the one for what has no
// word of its own.
func outcome(r reply, err error, other string) reply {
	r.OK = err == nil
	if err == nil {
		return r
	}
	r.Detail = err.Error()
	switch {
	case errors.Is(err, mcpserver.ErrRunning):
		r.Reason = "already-running"
	case errors.Is(err, mcpserver.ErrUnknown):
		r.Reason = "unknown-server"
	case errors.Is(err, mcpserver.ErrNotRunning):
		r.Reason = reasonNotRunning
	case errors.Is(err, mcpserver.ErrHung), errors.Is(err, context.DeadlineExceeded):
		r.Reason = "timeout"
	case errors.Is(err, mcpserver.ErrDead):
		r.Reason = "dead"
	default:
		r.Reason = other
	}
	return r
}
