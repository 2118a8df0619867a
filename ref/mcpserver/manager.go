package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"bridgecheck/ref/adapter/jsonrpc"
)

// ServerManager starts and stops servers. It is safe for concurrent use.
type ServerManager struct {
	opts Options

	mu      sync.Mutex
	servers map[string]*server // starting, running or stopping
	how     map[string]string  // of those that have been stopped, or did not start
}

// New makes a manager. It starts nothing.
func New(opts Options) *ServerManager {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.HealthEvery == 0 {
		opts.HealthEvery = DefaultHealthEvery
	}
	return &ServerManager{opts: opts, servers: map[string]*server{}, how: map[string]string{}}
}

// Start starts a server, waits until it has answered an MCP request and returns
// the path of the Unix socket at which it is served: HTTP, at the path /mcp. It
// returns [ErrRunning] for a name that is in use, also while it is stopping, and
// a [*StartError] when the server does not come up; then nothing of it is left.
// ctx bounds the start only. Starts of different names run at the same time.
func (m *ServerManager) Start(ctx context.Context, name string, cfg Config) (socketPath string, err error) {
	if err := cfg.validate(name); err != nil {
		return "", err
	}
	if err := checkDir(m.opts.Dir); err != nil {
		return "", err
	}
	s := newServer(name, cfg, m.opts)
	m.mu.Lock()
	if _, there := m.servers[name]; there {
		m.mu.Unlock()
		return "", fmt.Errorf("start server %q: %w", name, ErrRunning)
	}
	m.servers[name] = s
	delete(m.how, name)
	m.mu.Unlock()
	if err := s.start(ctx, m.opts.HealthEvery); err != nil {
		s.kill()
		m.forget(s)
		return "", err
	}
	return s.socket, nil
}

// Stop ends a server with everything it started: end of input, SIGTERM after
// the grace, SIGKILL after another. It ends a start that is in progress. It
// returns [ErrUnknown], [ErrNotRunning], or what could not be cleaned up. Calls
// at the same time share one stop.
func (m *ServerManager) Stop(name string) error {
	m.mu.Lock()
	s, running := m.servers[name]
	_, known := m.how[name]
	m.mu.Unlock()
	switch {
	case !running && known:
		return fmt.Errorf("stop server %q: %w", name, ErrNotRunning)
	case !running:
		return fmt.Errorf("stop server %q: %w", name, ErrUnknown)
	}
	return m.stop(s)
}

func (m *ServerManager) stop(s *server) error {
	s.kill()
	<-s.up
	if !s.started {
		m.forget(s) // Start may not have come to it yet
		return nil
	}
	s.once.Do(func() {
		s.stop()
		m.forget(s)
	})
	<-s.down
	return s.stopErr
}

// StopAll stops every server, all at the same time. An error of one does not
// keep the others running; all errors are joined. With nothing to stop it
// returns nil.
func (m *ServerManager) StopAll() error {
	m.mu.Lock()
	var all []*server
	for _, s := range m.servers {
		all = append(all, s)
	}
	m.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for n, s := range all {
		wg.Go(func() {
			if err := m.stop(s); err != nil {
				errs[n] = fmt.Errorf("stop server %q: %w", s.name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// HealthCheck asks the server for an answer. It returns nil, [ErrHung] when none
// came before ctx's deadline (5 s without one), [ErrDead] when its processes
// have ended, [ErrUnknown] or [ErrNotRunning]. A change for the worse is an event.
func (m *ServerManager) HealthCheck(ctx context.Context, name string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	return s.health(ctx)
}

// StopHow tells which step ended the server the last time: eof, term or kill;
// empty when it is running, unknown or did not start.
func (m *ServerManager) StopHow(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.how[name]
}

// Handler serves the server of that name, whichever is running when a request
// comes, at the path /mcp.
func (m *ServerManager) Handler(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := m.find(name)
		if err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write(jsonrpc.NewError(nil, jsonrpc.CodeInternal, err.Error(), nil))
			return
		}
		s.handler.ServeHTTP(w, r)
	})
}

// find returns a server that has come up.
func (m *ServerManager) find(name string) (*server, error) {
	m.mu.Lock()
	s, running := m.servers[name]
	_, known := m.how[name]
	m.mu.Unlock()
	if running {
		select {
		case <-s.up:
			if s.started {
				return s, nil
			}
		default:
		}
	}
	if running || known {
		return nil, fmt.Errorf("server %q: %w", name, ErrNotRunning)
	}
	return nil, fmt.Errorf("server %q: %w", name, ErrUnknown)
}

func (m *ServerManager) forget(s *server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.servers[s.name] == s { // not one that was started meanwhile
		delete(m.servers, s.name)
		m.how[s.name] = s.how
	}
}
