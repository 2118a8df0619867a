package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/event"
)

// The reasons of server-unhealthy.
const (
	reasonHung = "hung"
	reasonDead = "dead"
)

// healthBound is the deadline of a health check whose context has none.
const healthBound = 5 * time.Second

// health asks every process of the server for an answer. When the sessions that
// had processes have all ended, a new one is started, as for the next session.
func (s *server) health(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, healthBound)
		defer cancel()
	}
	err := s.check(ctx)
	if errors.Is(err, errIdle) {
		err = s.restock(ctx)
	}
	s.note(err)
	return err
}

// monitor checks the server from time to time until it is stopped.
func (s *server) monitor(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(s.life, every)
			s.note(s.check(ctx))
			cancel()
		case <-s.life.Done():
			return
		}
	}
}

// note reports what a check has found.
func (s *server) note(err error) {
	switch {
	case s.life.Err() != nil: // the stop took the processes away
	case err == nil:
		s.report("")
	case errors.Is(err, ErrHung):
		s.report(reasonHung)
	case errors.Is(err, ErrDead):
		s.report(reasonDead)
	}
}

// errIdle means that no session has a process just now.
var errIdle = errors.New("no process is running")

// check asks without starting anything.
func (s *server) check(ctx context.Context) error {
	if s.remote != nil {
		return s.remote.check(ctx)
	}
	all := s.alive()
	s.mu.Lock()
	died := s.died
	s.mu.Unlock()
	if len(all) == 0 && died {
		return fmt.Errorf("server %q: %w", s.name, ErrDead)
	}
	if len(all) == 0 {
		return errIdle
	}
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for n, i := range all {
		wg.Go(func() { errs[n] = i.ping(ctx) })
	}
	wg.Wait()
	for n, err := range errs {
		switch {
		case err == nil:
		case !all[n].alive():
			return fmt.Errorf("server %q: %w", s.name, ErrDead)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fmt.Errorf("server %q: %w within the deadline of the check", s.name, ErrHung)
		default:
			return err
		}
	}
	return nil
}

func (s *server) alive() (out []*instance) {
	for _, i := range s.running() {
		if i.alive() {
			out = append(out, i)
		}
	}
	return out
}

// restock starts a process for the next session.
func (s *server) restock(ctx context.Context) error {
	i, err := s.add(ctx)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("server %q: %w: %w", s.name, ErrHung, err)
	case err != nil:
		return fmt.Errorf("server %q: %w: %w", s.name, ErrDead, err)
	}
	s.mu.Lock()
	old := s.spare[adapter.ForSession]
	if old == nil {
		s.spare[adapter.ForSession] = i
	}
	s.mu.Unlock()
	if old != nil {
		i.discard()
	}
	return nil
}

// report emits a change for the worse, once.
func (s *server) report(reason string) {
	s.mu.Lock()
	changed := s.unhealthy != reason
	s.unhealthy = reason
	s.mu.Unlock()
	if changed && reason != "" {
		s.events.Emit(event.ServerUnhealthy{Server: s.name, Reason: reason})
	}
}
