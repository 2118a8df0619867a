package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"bridgecheck/ref/adapter/stdio"
	"bridgecheck/ref/mcpserver"
)

func TestStartDuringStop(t *testing.T) {
	t.Parallel()
	m, events, _ := newManager(t)
	start(t, m, "s", "ignore-eof ignore-term")
	stops := make(chan error, 2)
	for range 2 { // two at the same time share one stop
		go func() { stops <- m.Stop("s") }()
	}
	eventually(t, func() bool {
		_, err := m.Start(t.Context(), "s", config(t, ""))
		if err != nil && !errors.Is(err, mcpserver.ErrRunning) {
			t.Fatal(err)
		}
		return err == nil
	})
	for range 2 {
		if err := <-stops; err != nil && !errors.Is(err, mcpserver.ErrNotRunning) {
			t.Error(err)
		}
	}
	if n := strings.Count(events.String(), `"how":"kill"`); n != 1 {
		t.Errorf("%d stops in\n%s", n, events)
	}
}

// TestEverythingAtOnce demands defined results whatever comes together, and
// that nothing is left; newManager's cleanup looks.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	m, _, _ := newManager(t)
	words := []string{"", "modern", "exit-early", "ignore-eof", "discover-dies", "mute"}
	allowed := []error{
		nil, mcpserver.ErrRunning, mcpserver.ErrUnknown, mcpserver.ErrNotRunning, mcpserver.ErrStopped,
		mcpserver.ErrHung, mcpserver.ErrDead, context.DeadlineExceeded, context.Canceled,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for ctx.Err() == nil {
				name := fmt.Sprintf("s%d", rand.IntN(3))
				short, done := context.WithTimeout(ctx, time.Duration(rand.IntN(300))*time.Millisecond)
				var err error
				switch rand.IntN(5) {
				case 0, 1:
					cfg := config(t, words[rand.IntN(len(words))])
					cfg.StopGrace = 20 * time.Millisecond
					_, err = m.Start(short, name, cfg)
					if e := (*mcpserver.StartError)(nil); errors.As(err, &e) && (e.Exit == "code 9" || errors.Is(err, stdio.ErrClosed)) {
						err = nil // exit-early; within so short a grace its code may not be there
					}
				case 2:
					err = m.Stop(name)
				case 3:
					err = m.HealthCheck(short, name)
				default:
					if rand.IntN(5) == 0 {
						err = m.StopAll()
					}
				}
				done()
				if !isAny(err, allowed) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}

func isAny(err error, allowed []error) bool {
	for _, a := range allowed {
		if errors.Is(err, a) {
			return true
		}
	}
	return false
}
