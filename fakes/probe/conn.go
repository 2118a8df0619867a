package probe

import (
	"bufio"
	"context"
	"io"
	"net"
	"slices"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
)

// keepBytes is how much of what was read goes into an observation.
const keepBytes = 64 << 10

// networks are what can be dialled.
var networks = []string{"tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "unix", "unixgram", "unixpacket", "icmp", "raw"}

// conn is a kept connection. Reads go through one buffer, so that a read up to
// a line loses nothing of what follows.
type conn struct {
	net.Conn
	reader *bufio.Reader
	// packets: a read is one datagram, whatever it was to end with.
	packets bool
}

// dialConn dials one address and puts the context's deadline on the connection.
func dialConn(ctx context.Context, network, address string) (*conn, error) {
	if !slices.Contains(networks, network) {
		return nil, &noAttempt{"unknown network " + network}
	}
	var c net.Conn
	var err error
	if network == "icmp" || network == "raw" {
		c, err = dialICMP(network, address)
	} else {
		c, err = new(net.Dialer).DialContext(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	_, packets := c.(net.PacketConn)
	if u, isUnix := c.(*net.UnixConn); isUnix {
		packets = u.RemoteAddr().Network() != "unix"
	}
	wrapped := &conn{Conn: c, reader: bufio.NewReaderSize(c, 16<<10), packets: packets}
	wrapped.limit(ctx)
	return wrapped, nil
}

// limit puts the context's deadline on the connection.
func (c *conn) limit(ctx context.Context) {
	deadline, _ := ctx.Deadline()
	_ = c.SetDeadline(deadline)
}

// dial opens a connection, writes Data, reads Until, and closes it unless Conn
// names it. Local is set
// once the connection was made, whatever failed later.
func (p *Probe) dial(ctx context.Context, a attempt.Attempt) attempt.Observation {
	c, err := dialConn(ctx, a.Network, a.Address)
	if err != nil {
		return failed(err)
	}
	var o attempt.Observation
	o.Local, o.Remote = address(c.LocalAddr()), address(c.RemoteAddr())
	if err := c.converse(a, &o); err != nil {
		note(&o, err)
	}
	if a.Conn == "" || o.Refused != "" {
		_ = c.Close()
		return o
	}
	_ = c.SetDeadline(time.Time{})
	p.keep(a.Conn, c)
	return o
}

// converse writes Data and reads Until, each when asked for.
func (c *conn) converse(a attempt.Attempt, o *attempt.Observation) error {
	data := a.Data
	if a.Network == "icmp" || a.Network == "raw" {
		data = echoRequest(a.Address, a.Data)
	}
	if len(data) > 0 {
		if _, err := c.Write(data); err != nil {
			return err
		}
	}
	if a.Until == "" {
		return nil
	}
	return c.readInto(a, o)
}

// address is the text of an end of a connection; unnamed sockets have none.
func address(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// readInto reads up to what the attempt names and reports it.
func (c *conn) readInto(a attempt.Attempt, o *attempt.Observation) error {
	sink := content.Digest{Keep: keepBytes}
	err := c.readUntil(a.Until, a.Size, &sink)
	o.Data, o.Bytes, o.SHA256 = sink.Head, sink.Bytes, sink.SHA256()
	return err
}

// readUntil ends at a blank line (head), a line feed (line), the end (eof), or
// after size bytes (size, or nothing said); with neither it is one read.
func (c *conn) readUntil(until string, size int64, w io.Writer) error {
	switch {
	case c.packets, until == "" && size == 0:
		buffer := make([]byte, 64<<10)
		n, err := c.reader.Read(buffer)
		_, _ = w.Write(buffer[:n])
		return err
	case until == "" || until == "size":
		_, err := io.CopyN(w, c.reader, size)
		return err
	case until == "eof":
		_, err := io.Copy(w, c.reader)
		return err
	case until == "line":
		_, err := c.copyLine(w)
		return err
	case until == "head":
		for {
			blank, err := c.copyLine(w)
			if blank || err != nil {
				return err
			}
		}
	}
	return &noAttempt{"unknown until " + until}
}

// copyLine copies up to a line feed and tells whether the line was empty.
func (c *conn) copyLine(w io.Writer) (blank bool, err error) {
	var length int
	for {
		part, err := c.reader.ReadSlice('\n')
		_, _ = w.Write(part)
		length += len(part)
		if err == bufio.ErrBufferFull {
			continue
		}
		text := string(part)
		return err == nil && (text == "\n" || text == "\r\n") && length == len(part), err
	}
}
