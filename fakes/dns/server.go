// Package dns is a DNS server that answers as a check scripts it, over UDP and
// TCP, and remembers who asked for what.
package dns

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Query is one question that arrived.
type Query struct {
	Name    string // lower case, without the trailing dot
	Type    string // A, AAAA, …
	Network string // udp or tcp
	Time    time.Time
}

// Server is one running server. Its methods may be called from anywhere.
type Server struct {
	addr netip.AddrPort
	udp  *net.UDPConn
	tcp  *net.TCPListener
	ctx  context.Context
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	scripts map[string]*script
	log     []Query
	open    map[net.Conn]struct{}
}

// portTries bounds the search for a port that is free for both UDP and TCP.
const portTries = 20

// Start listens on addr (IP:PORT, port 0 for any free one) over UDP and TCP on
// the same port.
func Start(addr string) (*Server, error) {
	where, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("start DNS server: %w; use IP:PORT", err)
	}
	s := &Server{scripts: map[string]*script{}, open: map[net.Conn]struct{}{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	for range portTries {
		if err = s.listen(where); err == nil || where.Port() != 0 {
			break
		}
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("start DNS server on %s: %w", addr, err)
	}
	s.done.Go(s.serveUDP)
	s.done.Go(s.serveTCP)
	return s, nil
}

func (s *Server) listen(where netip.AddrPort) (err error) {
	if s.udp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(where)); err != nil {
		return err
	}
	s.addr = netip.AddrPortFrom(where.Addr(), s.udp.LocalAddr().(*net.UDPAddr).AddrPort().Port())
	if s.tcp, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(s.addr)); err != nil {
		_ = s.udp.Close()
		return err
	}
	return nil
}

// Addr is where the server listens, for both networks.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Set scripts the name: its queries get the answers in turn, each type for
// itself, and the last one for good. Without answers the name is unknown again.
// What was counted stays.
func (s *Server) Set(name string, answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(answers) == 0 {
		delete(s.scripts, canonical(name))
		return
	}
	s.scripts[canonical(name)] = &script{answers: answers, next: map[dnsmessage.Type]int{}}
}

// Queries is how often the name was asked for, of any type.
func (s *Server) Queries(name string) int {
	count := 0
	for _, query := range s.Log() {
		if query.Name == canonical(name) {
			count++
		}
	}
	return count
}

// Log is every query in the order of arrival.
func (s *Server) Log() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Query(nil), s.log...)
}

// Close ends the server and waits for its goroutines. A second call does nothing.
func (s *Server) Close() {
	s.stop()
	_, _ = s.udp.Close(), s.tcp.Close()
	s.mu.Lock()
	for c := range s.open {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.done.Wait()
}

// canonical is the form in which names are compared (RFC 4343).
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
