package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/event"
)

// server is one configured server, from Start to Stop.
type server struct {
	name   string
	cfg    Config
	dir    string
	events *event.Recorder
	log    *slog.Logger

	// life ends when Stop is called, and cancels a start.
	life context.Context
	kill context.CancelFunc
	up   chan struct{} // closed when the start has ended, however
	once sync.Once     // guards the stop
	// watch is the health check that goes on until life ends.
	watch sync.WaitGroup
	down  chan struct{} // closed when the stop has ended
	// stopErr and how are valid after down.
	stopErr error
	how     string

	// Set by the start, read after up.
	started bool
	handler http.Handler
	adapter *adapter.Adapter // nil for a server with a url
	remote  *remote          // nil for a server with a command
	socket  string
	http    *http.Server
	served  chan struct{} // closed when http accepts no more

	mu        sync.Mutex
	stopping  bool
	instances map[*instance]bool        // running
	spare     map[adapter.Use]*instance // started and not yet handed out
	died      bool                      // the last that ended was not asked to
	unhealthy string                    // what has been reported
}

func newServer(name string, cfg Config, opts Options) *server {
	s := &server{
		name: name, cfg: cfg.withDefaults(), dir: opts.Dir, events: opts.Events,
		log: slog.New(hiding{opts.Log.Handler(), newHider(cfg.Env)}),
		up:  make(chan struct{}), down: make(chan struct{}),
		instances: map[*instance]bool{}, spare: map[adapter.Use]*instance{},
	}
	s.life, s.kill = context.WithCancel(context.Background())
	return s
}

// start brings the server up and opens its socket.
func (s *server) start(ctx context.Context, every time.Duration) (err error) {
	defer close(s.up)
	defer func() {
		if s.started = err == nil; !s.started {
			s.abort()
		}
	}()
	began := time.Now()
	ctx, cancel := s.bound(ctx)
	defer cancel()
	defer s.progress(began)()
	containment := ""
	if s.cfg.URL != "" {
		err = s.startRemote(ctx)
	} else {
		containment, err = s.startStdio(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return s.startError(nil, err)
	}
	if every > 0 {
		s.watch.Go(func() { s.monitor(every) })
	}
	s.events.Emit(event.ServerStarted{
		Server: s.name, Socket: s.socket, URL: s.cfg.URL, Containment: containment, Took: time.Since(began),
	})
	return nil
}

func (s *server) startStdio(ctx context.Context) (containment string, err error) {
	p, err := s.probe(ctx)
	if err != nil {
		return "", err
	}
	// A process that has described itself to us in the newer era may refuse a
	// client's initialize; it serves stateless requests.
	use := adapter.ForSession
	if len(p.versions) > 0 {
		use = adapter.ForStateless
	}
	s.mu.Lock()
	s.instances[p.first], s.spare[use] = true, p.first
	s.mu.Unlock()
	s.adapter = adapter.New(adapter.Options{
		Server: s.name, Start: s.take, Versions: p.versions, AllowHost: s.allowHost,
		MessageBytes: s.cfg.MessageBytes, Sessions: s.cfg.Sessions,
		Idle: s.cfg.Idle, Detached: s.cfg.Detached, Log: s.log,
	})
	s.handler = s.adapter
	return p.first.tree.Level, nil
}

// bound makes a context that ends with the server's life as well.
func (s *server) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// progress tells every second that the start goes on, until the result is called.
func (s *server) progress(began time.Time) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.events.Emit(event.ServerProgress{Server: s.name, Took: time.Since(began)})
			case <-done:
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// take hands out a process: the one from the start, or a new one.
func (s *server) take(ctx context.Context, use adapter.Use) (adapter.Process, error) {
	s.mu.Lock()
	i := s.spare[use]
	delete(s.spare, use)
	s.mu.Unlock()
	if i != nil && i.alive() {
		return i, nil
	}
	i, err := s.add(ctx)
	if err != nil {
		// The client learns the cause, not what the server wrote to stderr.
		s.log.Warn("start another process", "server", s.name, "cause", err)
		if start := (*StartError)(nil); errors.As(err, &start) {
			err = fmt.Errorf("server %q does not start: %w", s.name, start.Cause)
		}
		return nil, err
	}
	return i, nil
}

// add starts another process and registers it.
func (s *server) add(ctx context.Context) (*instance, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	i, err := s.launchReady(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	stopping := s.stopping
	if !stopping {
		s.instances[i] = true
		s.died = false
	}
	s.mu.Unlock()
	if stopping {
		i.discard()
		return nil, s.startError(i, ErrStopped)
	}
	if !i.alive() {
		s.drop(i) // it ended before it was registered, and exited did not find it
	}
	return i, nil
}

// listen opens the socket. The directory is closed to others; the mode of the
// socket is the second lock on the same door.
func (s *server) listen() error {
	path, err := socketPath(s.dir, s.name)
	if err != nil {
		return err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	if err := restrict(path); err != nil {
		return errors.Join(err, ln.Close())
	}
	s.socket = path
	s.http = &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.served = make(chan struct{})
	go func() {
		defer close(s.served)
		_ = s.http.Serve(ln) // it ends when the stop closes the server
	}()
	return nil
}

// allowHost tells by which names clients may call this server.
func (s *server) allowHost(host string) bool {
	switch host {
	case "localhost", "127.0.0.1", "::1", strings.ToLower(s.name), strings.ToLower(s.name) + ".mcp.internal":
		return true
	}
	return slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}
