package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// dialError is why an allowed target could not be connected.
type dialError struct {
	reason Reason
	detail string
}

func (e *dialError) Error() string { return e.detail }

// attemptDelay is the Connection Attempt Delay of RFC 8305 section 5.
const attemptDelay = 250 * time.Millisecond

// dial connects to the target of an allowed decision, within ConnectTimeout for
// lookup and dial together. It is the only way out of this package: CONNECT,
// absolute form and upgrades all take it.
func (p *Proxy) dial(ctx context.Context, d Decision) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Limits.ConnectTimeout)
	defer cancel()
	addrs, err := p.lookup(ctx, d.Authority)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		return p.checkAddress(d, address)
	}}
	results := make(chan dialResult)
	next := time.NewTimer(0)
	defer next.Stop()
	var firstErr *dialError
	started, running := 0, 0
	for {
		select {
		case <-next.C:
			if started < len(addrs) {
				ap := netip.AddrPortFrom(addrs[started], d.Authority.Port)
				started, running = started+1, running+1
				go func() {
					c, err := dialer.DialContext(ctx, "tcp", ap.String())
					results <- dialResult{c, ap, err}
				}()
				next.Reset(attemptDelay)
			}
		case r := <-results:
			running--
			if r.err == nil {
				cancel()
				drop(results, running)
				return r.conn, nil
			}
			firstErr = worse(firstErr, dialFailure(r))
			if started < len(addrs) {
				next.Reset(0)
			} else if running == 0 {
				return nil, firstErr
			}
		}
	}
}

type dialResult struct {
	conn net.Conn
	to   netip.AddrPort
	err  error
}

// drop waits for the attempts that lost, so that none outlives its request.
func drop(results <-chan dialResult, running int) {
	for range running {
		if r := <-results; r.err == nil {
			r.conn.Close()
		}
	}
}

// checkAddress runs between socket and connect, on the very address that is
// about to be dialled: there is no second lookup to differ from the first.
func (p *Proxy) checkAddress(d Decision, address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &dialError{ReasonProhibited, "address " + quote(address) + " cannot be judged"}
	}
	if p.cfg.Policy.deniesAddr(ap) {
		return &dialError{ReasonProhibited, ap.String() + " is denied by a rule"}
	}
	if err := permits(d.ranges, ap.Addr()); err != nil {
		return &dialError{ReasonProhibited, err.Error()}
	}
	return nil
}

func dialFailure(r dialResult) *dialError {
	var prohibited *dialError
	var timeout net.Error
	switch err := r.err; {
	case errors.As(err, &prohibited):
		return prohibited
	case outOfDescriptors(err):
		return &dialError{ReasonDescriptors, "no descriptor was left for the connection"}
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
		return &dialError{ReasonConnRefused, r.to.String() + " refused the connection"}
	case errors.Is(err, context.Canceled):
		return &dialError{ReasonClientGone, "the client left during the dial"}
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return &dialError{ReasonConnTimeout, r.to.String() + " did not answer in time"}
	default:
		return &dialError{ReasonUnroutable, "no way to " + r.to.String() + ": " + cause(err)}
	}
}

// worse keeps the failure that tells most: an address that was dialled says
// more than one that was not.
func worse(have, got *dialError) *dialError {
	if have == nil || have.reason == ReasonProhibited {
		return got
	}
	return have
}

func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// cause is the innermost errno's text, or the whole error's.
func cause(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}
