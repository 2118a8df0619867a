package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"bridgecheck/ref/adapter/stdio"
	"bridgecheck/ref/mcpserver/contain"
)

// The steps of a stop, as events tell them, the gentlest first.
const (
	howEOF  = "eof"
	howTerm = "term"
	howKill = "kill"
)

// drainBound is how long output is still read after a tree has ended: where
// only a process group contains it, an escaped process may hold the pipe open.
const drainBound = 500 * time.Millisecond

// killBound is how long a killed tree may take to be gone.
const killBound = 10 * time.Second

// instance is one process of a server, with its tree.
type instance struct {
	name   string
	cfg    Config
	tree   *contain.Tree
	link   *stdio.Link
	stderr *tail
	ended  func(i *instance, unasked bool) // called once, at the end of a healthy process

	gone chan struct{} // closed when the tree has ended and its pipes are closed
	stop sync.Once

	mu      sync.Mutex
	healthy bool   // it has answered; from then on its end is an event
	asked   bool   // Stop or discard has been called
	killed  bool   // we ended it because of what it wrote
	how     string // the step that ended it, empty when it ended unasked
	err     error  // it does not end
}

// launch starts a process. It does not tell whether it answers.
func launch(name string, cfg Config, log *slog.Logger, ended func(*instance, bool)) (*instance, error) {
	env := cfg.environ()
	path, err := cfg.lookPath(env)
	if err != nil {
		return nil, err
	}
	if cfg.Dir != "" {
		if info, err := os.Stat(cfg.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("working directory %q is not a directory", cfg.Dir)
		}
	}
	tree, err := contain.Start(contain.Command{Path: path, Args: cfg.Args, Env: env, Dir: cfg.Dir}, cfg.Containment)
	if err != nil {
		return nil, err
	}
	i := &instance{name: name, cfg: cfg, tree: tree, ended: ended, gone: make(chan struct{}), stderr: newTail(tree.Stderr, name, newHider(cfg.Env), log)}
	i.link = stdio.NewLink(tree.Stdin, tree.Stdout, stdio.Options{
		Server: name, MessageBytes: cfg.MessageBytes, GarbageLines: cfg.GarbageLines, Log: log,
	})
	go i.watch()
	return i, nil
}

// watch waits for the end of the tree, or ends it when nothing can come from it
// any more.
func (i *instance) watch() {
	select {
	case <-i.tree.Done():
	case <-i.link.Done():
		// It may be on its way out; else it is of no use any more.
		if errors.Is(i.link.Err(), stdio.ErrGarbage) || !i.await(i.cfg.StopGrace) {
			i.mu.Lock()
			i.killed = true
			i.mu.Unlock()
		}
		i.tree.Kill()
		<-i.tree.Done()
	}
	select { // what the server wrote last is still in the pipes
	case <-i.link.Done():
	case <-time.After(drainBound):
	}
	_ = i.tree.Stdout.Close()
	i.link.CloseInput()
	i.stderr.close(drainBound)
	<-i.link.Done()
	close(i.gone)
	i.mu.Lock()
	healthy, asked := i.healthy, i.asked
	i.mu.Unlock()
	if healthy {
		i.ended(i, !asked)
	}
}

// ready makes the end of the process an event from now on. It returns false
// when it has ended already.
func (i *instance) ready() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.healthy = i.alive()
	return i.healthy
}

// exit tells how the process ended by itself, "code 3"; empty when it did not.
func (i *instance) exit() string {
	<-i.gone
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.asked || i.killed {
		return ""
	}
	return i.tree.Exit().String()
}

// await waits for the end of the tree, at most for d.
func (i *instance) await(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-i.tree.Done():
		return true
	case <-timer.C:
		return false
	}
}

// Link implements adapter.Process.
func (i *instance) Link() *stdio.Link { return i.link }

// Ended implements adapter.Process.
func (i *instance) Ended() string {
	if exit := i.exit(); exit != "" {
		return "exited with " + exit
	}
	if err := i.link.Err(); errors.Is(err, stdio.ErrGarbage) {
		return err.Error()
	}
	return "was stopped"
}

// Stop implements adapter.Process: end of input, SIGTERM, SIGKILL, with a grace
// after each of the first two.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
func (i *instance) Stop() {
	i.stop.Do(func() {
		if !i.ask() {
			<-i.gone
			return
		}
		how := howEOF
		i.link.CloseInput()
		if !i.await(i.cfg.StopGrace) {
			how = howTerm
			_ = i.tree.Term() // when that cannot be sent, the next step follows all the same
			if !i.await(i.cfg.StopGrace) {
				how = howKill
			}
		}
		i.finish(how)
	})
}

// discard ends a process that nobody has used, without grace.
func (i *instance) discard() {
	i.stop.Do(func() {
		i.ask()
		i.finish(howKill)
	})
}

// ask notes that the end is wanted; it returns false when it has come already.
func (i *instance) ask() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.tree.Done():
		return false
	default:
		i.asked = true
		return true
	}
}

// finish ends what is left and waits for it.
func (i *instance) finish(how string) {
	var err error
	i.tree.Kill()
	timer := time.NewTimer(killBound)
	defer timer.Stop()
	select {
	case <-i.gone:
	case <-timer.C:
		err = fmt.Errorf("the processes of server %q are still there %s after SIGKILL", i.name, killBound)
	}
	i.mu.Lock()
	i.how, i.err = how, err
	i.mu.Unlock()
}

func (i *instance) alive() bool {
	select {
	case <-i.tree.Done():
		return false
	case <-i.link.Done():
		return false
	default:
		return true
	}
}

// ping asks for a sign of life. Any answer will do: the request of the older
// era is an error to a server of the newer one.
func (i *instance) ping(ctx context.Context) error {
	_, err := i.link.Call(ctx, "ping", "")
	return err
}
