package egress

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// clientHello is what crypto/tls sends for a name ("" for none).
func clientHello(t testing.TB, name string) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	go tls.Client(theirs, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	ours.SetDeadline(time.Now().Add(patience))
	head := make([]byte, 5)
	if _, err := io.ReadFull(ours, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[3])<<8|int(head[4]))
	if _, err := io.ReadFull(ours, body); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(head, body)
}

func TestSNICheck(t *testing.T) {
	got := make(chan []byte, 1)
	far := newFar(t, func(c net.Conn) {
		io.WriteString(c, "first")
		b, _ := io.ReadAll(c)
		got <- b
	})
	l := newLab(t, Config{SNICheck: true, Policy: NewPolicy([]Rule{
		onLoopback(t, "far.test", far.port), mustRule(t, "127.0.0.1", far.port, "127.0.0.1/32"),
	}, nil)})
	l.dns.set("far.test", "127.0.0.1")
	rows := []struct {
		host, sends string
		passes      bool
	}{
		{"far.test", string(clientHello(t, "far.test")) + "more", true},
		{"far.test", string(clientHello(t, "FAR.test")), true},
		{"far.test", string(clientHello(t, "front.test")), false},
		{"far.test", string(clientHello(t, "")), false},
		{"far.test", "\x16\x03\x01\x00\x05hello", false},
		{"far.test", "plain bytes", true},
		{"far.test", "", true},
		{"127.0.0.1", string(clientHello(t, "")), true},
		{"127.0.0.1", string(clientHello(t, "far.test")), false},
	}
	for _, pieces := range []bool{false, true} {
		for i, r := range rows {
			c := l.dial()
			c.connect(target(r.host, far.port))
			if s := c.read(5); s != "first" { // the server need not wait for a hello
				t.Errorf("row %d: %q", i, s)
			}
			if pieces && len(r.sends) > 1 {
				c.send(r.sends[:1])
				c.send(r.sends[1:])
			} else {
				c.send(r.sends)
			}
			if r.passes {
				c.Conn.(*net.TCPConn).CloseWrite()
				if b := <-got; string(b) != r.sends {
					t.Errorf("row %d: %d of %d bytes reach the server", i, len(b), len(r.sends))
				}
				continue
			}
			if b := <-got; len(b) != 0 {
				t.Errorf("row %d: the server got %d bytes", i, len(b))
			}
			if b, _ := io.ReadAll(c.r); !bytes.Equal(b, unrecognizedName) {
				t.Errorf("row %d: the client got %x", i, b)
			}
			if d := l.last(); d.Reason != ReasonSNIMismatch || d.Verdict != Deny || d.Authority.Host() != r.host {
				t.Errorf("row %d: %+v", i, d)
			}
		}
	}
}

// Without the check any name passes.
func TestSNIUnchecked(t *testing.T) {
	far := newFar(t, echo)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
	l.dns.set("far.test", "127.0.0.1")
	c := l.dial()
	c.connect(target("far.test", far.port))
	h := string(clientHello(t, "front.test"))
	c.send(h)
	if got := c.read(len(h)); got != h {
		t.Error("the hello was changed")
	}
}

func FuzzHello(f *testing.F) {
	h := clientHello(f, "far.test")
	f.Add(h)
	f.Add(h[:len(h)-1])
	f.Add(append([]byte{22, 3, 1, 0, 1, h[5], 22, 3, 1, byte((len(h) - 6) >> 8), byte(len(h) - 6)}, h[6:]...)) // in two records
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		src := &source{conn: bytesConn{bytes.NewReader(in)}}
		read, name, isTLS, err := readHello(src, time.Second)
		if err != nil {
			return
		}
		rest, _ := io.ReadAll(src)
		if !bytes.Equal(append(read, rest...), in) {
			t.Fatalf("%x became %x and %x", in, read, rest)
		}
		if isTLS && name != "" && !strings.Contains(string(in), name) && len(name) < 16 {
			t.Skip("a name over a record border")
		}
	})
}

// bytesConn reads from memory.
type bytesConn struct{ *bytes.Reader }

func (bytesConn) Write(p []byte) (int, error)      { return len(p), nil }
func (bytesConn) Close() error                     { return nil }
func (bytesConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (bytesConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (bytesConn) SetDeadline(time.Time) error      { return nil }
func (bytesConn) SetReadDeadline(time.Time) error  { return nil }
func (bytesConn) SetWriteDeadline(time.Time) error { return nil }
