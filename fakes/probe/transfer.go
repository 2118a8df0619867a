package probe

import (
	"bytes"
	"context"
	"io"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
)

// connection finds the kept connection that the attempt names.
func (p *Probe) connection(ctx context.Context, a attempt.Attempt) (*conn, error) {
	c, found := p.kept[a.Conn].(*conn)
	if !found {
		return nil, &noAttempt{"no connection " + a.Conn}
	}
	c.limit(ctx)
	return c, nil
}

// outgoing is what an attempt sends: Data as it stands, or Size bytes of Seed.
func outgoing(a attempt.Attempt) io.Reader {
	if len(a.Data) > 0 {
		return bytes.NewReader(a.Data)
	}
	return content.Reader(a.Seed, a.Size)
}

func (p *Probe) send(ctx context.Context, a attempt.Attempt) attempt.Observation {
	c, err := p.connection(ctx, a)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = c.SetDeadline(time.Time{}) }()
	var sent content.Digest
	_, err = io.Copy(c.Conn, io.TeeReader(outgoing(a), &sent))
	o := failed(err)
	o.Bytes, o.SHA256 = sent.Bytes, sent.SHA256()
	return o
}

func (p *Probe) receive(ctx context.Context, a attempt.Attempt) attempt.Observation {
	c, err := p.connection(ctx, a)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = c.SetDeadline(time.Time{}) }()
	var o attempt.Observation
	note(&o, c.readInto(a, &o))
	return o
}

// exchange sends and receives at once. With Until eof the write side is closed
// when all is sent: an echo would never end otherwise.
func (p *Probe) exchange(ctx context.Context, a attempt.Attempt) attempt.Observation {
	c, err := p.connection(ctx, a)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = c.SetDeadline(time.Time{}) }()
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(c.Conn, outgoing(a))
		if err == nil && a.Until == "eof" {
			err = closeWrite(c.Conn)
		}
		sent <- err
	}()
	var o attempt.Observation
	err = c.readInto(a, &o)
	if err != nil {
		// Nothing more will be read: do not let the sender wait for room.
		_ = c.SetWriteDeadline(time.Now())
	}
	sendErr := <-sent
	note(&o, err)
	note(&o, sendErr)
	return o
}

// closeWrite ends the own direction (shutdown(2) with SHUT_WR).
func closeWrite(c any) error {
	half, able := c.(interface{ CloseWrite() error })
	if !able {
		return &noAttempt{"this kind of connection has no half-close"}
	}
	return half.CloseWrite()
}

func (p *Probe) closeWrite(ctx context.Context, a attempt.Attempt) attempt.Observation {
	c, err := p.connection(ctx, a)
	if err != nil {
		return failed(err)
	}
	return failed(closeWrite(c.Conn))
}

// close ends a connection, a group of many, or a listener with all it accepted;
// Value is how many connections the listener accepted.
func (p *Probe) close(_ context.Context, a attempt.Attempt) attempt.Observation {
	c, found := p.kept[a.Conn]
	if !found {
		return refused("no connection %q", a.Conn)
	}
	delete(p.kept, a.Conn)
	o := failed(c.Close())
	if l, isListener := c.(*listener); isListener {
		o.Value = l.accepted.Load()
	}
	return o
}
