package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"bridgecheck/ref/event"
	"bridgecheck/ref/mcpserver/contain"
)

// shutdownBound is how long responses that have been answered may take to be sent.
const shutdownBound = time.Second

// stop ends the server; it is called once, after up is closed.
func (s *server) stop() {
	defer close(s.down)
	began := time.Now()
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	var wg sync.WaitGroup
	if s.adapter != nil {
		wg.Go(s.adapter.Close) // whoever waits for an answer is told
	}
	for _, i := range s.running() { // those nobody uses as well
		wg.Go(i.Stop)
	}
	wg.Wait()
	s.watch.Wait()
	var errs []error
	if s.http != nil {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownBound)
		if err := s.http.Shutdown(ctx); err != nil { // a client that does not read must not hold us up
			err = s.http.Close()
			errs = append(errs, err)
		}
		cancel()
		<-s.served
	}
	if s.remote != nil {
		s.remote.close()
	}
	how, err := s.outcome()
	s.how, s.stopErr = how, errors.Join(append(errs, err)...)
	s.events.Emit(event.ServerStopped{Server: s.name, How: how, Took: time.Since(began)})
}

// abort ends what a failed start has left.
func (s *server) abort() {
	if s.adapter != nil {
		s.adapter.Close()
	}
	for _, i := range s.running() {
		i.discard()
	}
	if s.remote != nil {
		s.remote.close()
	}
}

func (s *server) running() (out []*instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.instances {
		out = append(out, i)
	}
	return out
}

// outcome is the hardest step that a process of the server needed in this stop.
func (s *server) outcome() (how string, err error) {
	how = howEOF
	rank := map[string]int{howEOF: 1, howTerm: 2, howKill: 3}
	for _, i := range s.running() {
		i.mu.Lock()
		if rank[i.how] > rank[how] {
			how = i.how
		}
		err = errors.Join(err, i.err)
		i.mu.Unlock()
	}
	return how, err
}

// exited is told of the end of every process.
func (s *server) exited(i *instance, unasked bool) {
	if !unasked {
		s.mu.Lock()
		if !s.stopping { // the stop wants to know how each of them ended
			delete(s.instances, i)
		}
		s.mu.Unlock()
		return
	}
	exit := i.tree.Exit()
	e := event.ServerExited{Server: s.name, StderrTail: i.stderr.String()}
	if exit.Signal != 0 {
		e.Signal = contain.SignalName(exit.Signal)
	} else {
		e.Code = &exit.Code
	}
	s.events.Emit(e)
	s.drop(i)
}

// drop forgets a process that has ended. When it was the last, the server is dead.
func (s *server) drop(i *instance) {
	s.mu.Lock()
	delete(s.instances, i)
	for use, spare := range s.spare {
		if spare == i {
			delete(s.spare, use)
		}
	}
	s.died = true
	dead := len(s.instances) == 0
	s.mu.Unlock()
	if dead {
		s.report(reasonDead)
	}
}
