package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/net/dns/dnsmessage"

	"bridgecheck/fakes/attempt"
)

// resolve asks for the addresses of a name: with Network udp or tcp the server
// at Path (host:port), hand-made so that the errno is the socket's own; without
// a network the system's resolver. An answer without addresses is Errno "other"
// with the RCODE in Error.
func (p *Probe) resolve(ctx context.Context, a attempt.Attempt) attempt.Observation {
	var o attempt.Observation
	if a.Network == "" {
		names, err := new(net.Resolver).LookupHost(ctx, a.Address)
		o.Names = names
		note(&o, err)
		return o
	}
	if a.Network != "udp" && a.Network != "tcp" {
		return refused("resolve by network %q", a.Network)
	}
	for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		names, err := ask(ctx, a.Network, a.Path, a.Address, kind)
		if err != nil {
			note(&o, err)
			return o
		}
		o.Names = append(o.Names, names...)
	}
	if len(o.Names) == 0 {
		note(&o, errors.New("no addresses"))
	}
	return o
}

// ask sends one question and reads one answer (RFC 1035 4.2).
func ask(ctx context.Context, network, server, name string, kind dnsmessage.Type) ([]string, error) {
	if name == "" || name[len(name)-1] != '.' {
		name += "."
	}
	parsed, err := dnsmessage.NewName(name)
	if err != nil {
		return nil, &noAttempt{fmt.Sprintf("%q is no DNS name: %v", name, err)}
	}
	query := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: uint16(kind), RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: parsed, Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err := query.Pack()
	if err != nil {
		return nil, &noAttempt{err.Error()}
	}
	c, err := dialConn(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	answer, err := c.exchangeDNS(packed)
	if err != nil {
		return nil, err
	}
	var message dnsmessage.Message
	if err := message.Unpack(answer); err != nil {
		return nil, fmt.Errorf("unpack answer: %w", err)
	}
	if message.RCode != dnsmessage.RCodeSuccess {
		return nil, errors.New(message.RCode.String())
	}
	return addresses(message.Answers), nil
}

// exchangeDNS frames the query as the network wants it.
func (c *conn) exchangeDNS(query []byte) ([]byte, error) {
	if !c.packets {
		query = append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)
	}
	if _, err := c.Write(query); err != nil {
		return nil, err
	}
	if c.packets {
		buffer := make([]byte, 64<<10)
		n, err := c.reader.Read(buffer)
		return buffer[:n], err
	}
	var length [2]byte
	if _, err := io.ReadFull(c.reader, length[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(c.reader, answer)
	return answer, err
}

func addresses(answers []dnsmessage.Resource) []string {
	var found []string
	for _, answer := range answers {
		switch body := answer.Body.(type) {
		case *dnsmessage.AResource:
			found = append(found, net.IP(body.A[:]).String())
		case *dnsmessage.AAAAResource:
			found = append(found, net.IP(body.AAAA[:]).String())
		}
	}
	return found
}
