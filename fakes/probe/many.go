package probe

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"bridgecheck/fakes/attempt"
)

// maxMany bounds Count: more is a typing error rather than a test.
const maxMany = 20_000

// group is what many keeps open under one name.
type group []io.Closer

// Close closes all of them and joins the errors.
func (g group) Close() error {
	var errs []error
	for _, c := range g {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// many dials Count times at once, writes Data and reads Until on each, and
// holds every connection until the last is done; with Conn they stay open until
// that is closed. Errnos counts the outcomes and Lines the first lines read.
func (p *Probe) many(ctx context.Context, a attempt.Attempt) attempt.Observation {
	if a.Count < 1 || a.Count > maxMany {
		return refused("many needs a count from 1 to %d", maxMany)
	}
	var (
		mu   sync.Mutex
		held group
		all  sync.WaitGroup
		o    = attempt.Observation{Errnos: map[string]int{}, Lines: map[string]int{}}
	)
	for range a.Count {
		all.Go(func() {
			var one attempt.Observation
			c, err := dialConn(ctx, a.Network, a.Address)
			if err == nil {
				err = c.converse(a, &one)
			}
			mu.Lock()
			defer mu.Unlock()
			if c != nil {
				held = append(held, c)
			}
			note(&one, err)
			o.Refused = one.Refused
			o.Errnos[one.Errno]++
			if line, _, found := strings.Cut(string(one.Data), "\n"); found {
				o.Lines[strings.TrimSuffix(line, "\r")]++
			}
		})
	}
	all.Wait()
	o.Value = int64(o.Errnos[""])
	if a.Conn != "" && o.Refused == "" {
		p.keep(a.Conn, held)
		return o
	}
	_ = held.Close()
	return o
}
