package adapter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"bridgecheck/ref/adapter/jsonrpc"
	"bridgecheck/ref/adapter/stdio"
)

// stdioProtocol is what a connection becomes that carries lines, as stdio does:
// an agent that knows no other transport reaches the bridge by a program that
// copies its own stdin and stdout.
const stdioProtocol = "mcp-stdio"

// serveStdio turns the connection into the stdio of a process of its own.
func (a *Adapter) serveStdio(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != stdioProtocol {
		w.Header().Set("Upgrade", stdioProtocol)
		refuse(w, http.StatusUpgradeRequired, nil, jsonrpc.CodeInvalidRequest, "this endpoint speaks lines: ask for "+stdioProtocol)
		return
	}
	s, err := a.newSession(r.Context(), &session{one: true, listen: newStream("")})
	if err != nil {
		refuse(w, http.StatusBadGateway, nil, jsonrpc.CodeInternal, err.Error())
		return
	}
	defer s.close("session ended with its connection")
	if !s.enter() {
		refuse(w, http.StatusBadGateway, nil, jsonrpc.CodeInternal, "the server has ended")
		return
	}
	defer s.leave(false)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, http.StatusNotImplemented, nil, jsonrpc.CodeInternal, "this door cannot carry lines")
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Time{}) // the HTTP server's
	const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + stdioProtocol + "\r\n\r\n"
	if _, err := io.WriteString(conn, head); err != nil {
		return
	}
	a.background(func() {
		s.readLines(buffered.Reader)
		s.proc.Stop() // the client's end of input is the server's
	})
	s.writeLines(conn)
}

// readLines passes the client's lines on until its input ends. What is no
// message is refused without an id, as JSON-RPC has it.
func (s *session) readLines(r *bufio.Reader) {
	for {
		line, fits, err := stdio.ReadLine(r, s.a.opts.MessageBytes)
		if err != nil {
			return
		}
		batch, err := parseBody(line)
		switch {
		case !fits:
			s.complain(nil, "message is longer than the server may get")
		case len(line) == 0:
		case err != nil:
			s.complain(nil, err.Error())
		default:
			for _, m := range batch {
				if !s.pass(m) {
					s.complain(m.ID.Of(m.Raw), errIDInUse.Error())
				}
			}
		}
	}
}

func (s *session) complain(id []byte, text string) {
	s.listen.push(event{raw: jsonrpc.NewError(id, jsonrpc.CodeInvalidRequest, text, nil)})
}

// writeLines writes what the server says until it ends or the client is gone.
func (s *session) writeLines(conn net.Conn) {
	reader := s.listen.attach(-1)
	for {
		queued, _, ended, err := s.listen.take(reader)
		if err != nil {
			return
		}
		for _, e := range queued {
			_ = conn.SetWriteDeadline(time.Now().Add(writeBound))
			if _, err := conn.Write(append(slices.Clip(e.raw), '\n')); err != nil {
				return
			}
		}
		if ended {
			return
		}
		select {
		case <-s.listen.wake:
		case <-reader:
			return
		}
	}
}

// Pipe connects in and out to a server at a Unix socket of the bridge, as if it
// were the stdio of the server itself. It returns when the server has ended its
// output, or with ctx. In the end in may still be being read.
func Pipe(ctx context.Context, socket string, in io.Reader, out io.Writer) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("connect to the bridge: %w", err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/stdio", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", stdioProtocol)
	if err := req.Write(conn); err != nil {
		return fmt.Errorf("ask the bridge: %w", err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return fmt.Errorf("ask the bridge: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("the bridge answered %s: %s", resp.Status, text)
	}
	go func() {
		_, _ = io.Copy(conn, in)
		if half, ok := conn.(*net.UnixConn); ok {
			_ = half.CloseWrite()
		}
	}()
	if _, err := io.Copy(out, r); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("read from the bridge: %w", err)
	}
	return ctx.Err()
}
