package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bridgecheck/ref/adapter/jsonrpc"
	"bridgecheck/ref/adapter/stdio"
)

// discoverBound is how much longer than for a ping that was sent after it a
// server may take to answer server/discover, before it counts as one that
// ignores the request.
const discoverBound = time.Second

// surviveBound is how long a server may take to answer a ping after
// server/discover, before it counts as one that the request has upset.
const surviveBound = 10 * time.Second

// discoverParams is what every stateless request carries.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
const discoverParams = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"refbridge","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}}`

// discover asks which stateless versions the server speaks; none is the answer
// of an older server, in whatever way it gives it. It never uses initialize:
// that belongs to the client. It returns an error when the server has not
// survived the question.
func (i *instance) discover(ctx context.Context) (versions []string, err error) {
	wait, err := i.link.Begin("server/discover", discoverParams)
	if err != nil {
		return nil, err
	}
	survive, cancel := context.WithTimeout(ctx, min(i.cfg.StartTimeout, surviveBound))
	defer cancel()
	err = i.ping(survive)
	late, cancel := context.WithTimeout(ctx, discoverBound)
	defer cancel()
	if err != nil {
		cancel()
	}
	m, silent := wait(late)
	if err != nil || silent != nil {
		return nil, err
	}
	return statelessVersions(m), nil
}

// statelessVersions reads the answer to server/discover.
func statelessVersions(m jsonrpc.Message) (versions []string) {
	at := m.LookupResult("supportedVersions")
	if m.ErrorCode() == jsonrpc.CodeUnsupportedVersion { // a newer server that is newer still
		if data, err := jsonrpc.Lookup(m.Raw, m.Error, "data"); err == nil {
			at, _ = jsonrpc.Lookup(m.Raw, data, "supported")
		}
	}
	var all []string
	if !at.Present() || json.Unmarshal(at.Of(m.Raw), &all) != nil {
		return nil
	}
	for _, v := range all {
		if v >= "2026-07-28" {
			versions = append(versions, v)
		}
	}
	return versions
}

// probe is what a start learns.
type probe struct {
	first    *instance // healthy; nobody has used it
	versions []string  // stateless versions of the server
}

// probe starts the first process, waits for its first answer and learns its
// era. A server that does not survive the question about its era is started
// once more and not asked again.
func (s *server) probe(ctx context.Context) (probe, error) {
	first, err := s.launchHealthy(ctx)
	if err != nil {
		return probe{}, err
	}
	versions, err := first.discover(ctx)
	if err == nil && first.ready() {
		return probe{first, versions}, nil
	}
	first.discard()
	if ctx.Err() != nil {
		return probe{}, s.startError(first, ctx.Err())
	}
	second, err := s.launchReady(ctx)
	return probe{first: second}, err
}

// launchReady starts a process for use.
func (s *server) launchReady(ctx context.Context) (*instance, error) {
	i, err := s.launchHealthy(ctx)
	if err == nil && !i.ready() {
		err = s.startError(i, ErrDead)
	}
	return i, err
}

// launchHealthy starts a process and waits until it has answered a request.
func (s *server) launchHealthy(ctx context.Context) (*instance, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout, startTimeout(s.cfg.StartTimeout))
	defer cancel()
	i, err := launch(s.name, s.cfg, s.log, s.exited)
	if err != nil {
		return nil, s.startError(nil, err)
	}
	if err := i.ping(ctx); err != nil {
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case !errors.Is(err, stdio.ErrGarbage) && i.await(s.cfg.StopGrace):
			err = errEarlyEnd
		}
		if i.alive() {
			i.discard()
		}
		return nil, s.startError(i, err)
	}
	return i, nil
}

// startTimeout is a context.DeadlineExceeded that says which.
type startTimeout time.Duration

func (t startTimeout) Error() string {
	return fmt.Sprintf("no answer within the start timeout of %s", time.Duration(t))
}

func (startTimeout) Is(target error) bool { return target == context.DeadlineExceeded }

var errEarlyEnd = errors.New("it ended before it answered a request")

// startError adds what is known of the process to the cause.
func (s *server) startError(i *instance, cause error) error {
	if errors.Is(cause, context.Canceled) && s.life.Err() != nil {
		cause = ErrStopped
	}
	e := &StartError{Server: s.name, Command: cmp.Or(s.cfg.Command, s.cfg.URL), Cause: cause}
	if i != nil {
		e.Exit = i.exit()
		e.StderrTail = i.stderr.String()
	}
	return e
}
