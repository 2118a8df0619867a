package dns

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// maxAliases bounds a chain of CNAMEs.
const maxAliases = 8

func (s *Server) serveUDP() {
	buffer := make([]byte, 64<<10)
	for {
		n, from, err := s.udp.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		if answer := s.reply(buffer[:n], "udp"); answer != nil {
			_, _ = s.udp.WriteToUDPAddrPort(answer, from)
		}
	}
}

// acceptPause is the wait after an accept that failed.
const acceptPause = 5 * time.Millisecond

func (s *Server) serveTCP() {
	for {
		c, err := s.tcp.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, as a test may want: the next may work
			time.Sleep(acceptPause)
			continue
		}
		s.mu.Lock()
		if s.ctx.Err() != nil {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.open[c] = struct{}{}
		s.mu.Unlock()
		s.done.Go(func() {
			s.serveStream(c)
			_ = c.Close()
			s.mu.Lock()
			delete(s.open, c)
			s.mu.Unlock()
		})
	}
}

// serveStream answers the queries of one connection (RFC 1035 4.2.2).
func (s *Server) serveStream(c net.Conn) {
	for {
		var length [2]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		answer := s.reply(query, "tcp")
		if answer == nil {
			continue
		}
		framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)
		if _, err := c.Write(framed); err != nil {
			return
		}
	}
}

// reply is the packed answer, or nil for none.
func (s *Server) reply(packed []byte, network string) []byte {
	var query dnsmessage.Message
	if query.Unpack(packed) != nil || len(query.Questions) != 1 || query.Response {
		return nil
	}
	question := query.Questions[0]
	reply := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: query.ID, Response: true, Authoritative: true,
			RecursionDesired: query.RecursionDesired, RecursionAvailable: true,
		},
		Questions: query.Questions,
	}
	name := canonical(question.Name.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, Query{
		Name: name, Type: strings.TrimPrefix(question.Type.String(), "Type"), Network: network, Time: time.Now(),
	})
	if !s.fill(&reply, question, name) {
		return nil
	}
	answer, err := reply.Pack()
	if err != nil {
		return nil
	}
	return answer
}

// fill puts the scripted answer into the reply and follows aliases; false is
// silence. It runs with mu held.
func (s *Server) fill(reply *dnsmessage.Message, question dnsmessage.Question, name string) bool {
	owner := question.Name
	for range maxAliases {
		known, found := s.scripts[name]
		if !found {
			reply.RCode = dnsmessage.RCodeNameError
			return true
		}
		answer := known.take(question.Type)
		if answer.silent {
			return false
		}
		reply.RCode = answer.code
		if answer.alias == "" {
			reply.Answers = append(reply.Answers, answer.records(owner, question.Type)...)
			return true
		}
		target, err := dnsmessage.NewName(canonical(answer.alias) + ".")
		if err != nil {
			reply.RCode = dnsmessage.RCodeServerFailure
			return true
		}
		reply.Answers = append(reply.Answers, dnsmessage.Resource{
			Header: header(owner, dnsmessage.TypeCNAME), Body: &dnsmessage.CNAMEResource{CNAME: target},
		})
		owner, name = target, canonical(answer.alias)
	}
	reply.RCode = dnsmessage.RCodeServerFailure
	return true
}

// header has a TTL of zero: nothing may be cached between two checks.
func header(owner dnsmessage.Name, kind dnsmessage.Type) dnsmessage.ResourceHeader {
	return dnsmessage.ResourceHeader{Name: owner, Type: kind, Class: dnsmessage.ClassINET}
}

// records are the addresses of the type asked for.
func (a Answer) records(owner dnsmessage.Name, kind dnsmessage.Type) []dnsmessage.Resource {
	var found []dnsmessage.Resource
	for _, address := range a.addresses {
		switch {
		case kind == dnsmessage.TypeA && address.Is4():
			found = append(found, dnsmessage.Resource{Header: header(owner, kind), Body: &dnsmessage.AResource{A: address.As4()}})
		case kind == dnsmessage.TypeAAAA && address.Is6():
			found = append(found, dnsmessage.Resource{Header: header(owner, kind), Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
		}
	}
	return found
}
