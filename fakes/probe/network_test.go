package probe_test

import (
	"fmt"
	"strings"
	"testing"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
)

func TestListenDialAndTransfer(t *testing.T) {
	a := start(t, "lab", true)
	for _, network := range []string{"tcp4", "tcp6", "unix", "unixpacket"} {
		t.Run(network, func(t *testing.T) {
			a.t = t
			address := map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "unix": "@probe-stream", "unixpacket": "@probe-packet"}[network]
			local := a.must(attempt.Attempt{Op: attempt.OpListen, Network: network, Address: address, Conn: "l"}).Local
			o := a.must(attempt.Attempt{Op: attempt.OpDial, Network: network, Address: local, Conn: "c", Data: []byte("hello\nworld"), Until: "line"})
			if network == "unixpacket" && string(o.Data) != "hello\nworld" || network != "unixpacket" && string(o.Data) != "hello\n" {
				t.Errorf("echo %q", o.Data)
			}
			if network != "unixpacket" {
				if o := a.must(attempt.Attempt{Op: attempt.OpReceive, Conn: "c", Size: 5}); string(o.Data) != "world" {
					t.Errorf("the rest %q", o.Data)
				}
			}
			a.must(attempt.Attempt{Op: attempt.OpClose, Conn: "c"})
			if o := a.must(attempt.Attempt{Op: attempt.OpClose, Conn: "l"}); o.Value != 1 {
				t.Errorf("accepted %d", o.Value)
			}
		})
	}
	a.t = t
	local := a.must(attempt.Attempt{Op: attempt.OpListen, Network: "udp", Address: "127.0.0.1:0", Conn: "l"}).Local
	if o := a.must(attempt.Attempt{Op: attempt.OpDial, Network: "udp", Address: local, Data: []byte("x"), Until: "eof"}); string(o.Data) != "x" {
		t.Errorf("datagram %q", o.Data)
	}
}

func TestListenRelaysAndShares(t *testing.T) {
	a := start(t, "lab", true)
	relay := a.must(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "relay", Args: []string{"forward", labHTTP}}).Local
	if o := a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: "http://" + relay + "/through"}); o.Body != "GET /through\n" {
		t.Errorf("%+v", o)
	}
	a.want("EADDRINUSE", attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: relay, Conn: "again", Args: []string{"reuseport"}})
	shared := a.must(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "a", Args: []string{"reuseport"}}).Local
	a.must(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: shared, Conn: "b", Args: []string{"reuseport"}})
	a.must(attempt.Attempt{Op: attempt.OpClose, Conn: "relay"})
	// One whose far side never ends is closed all the same.
	silent := a.must(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "silent", Args: []string{"forward", labSink}}).Local
	a.must(attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: silent, Conn: "open"})
	a.must(attempt.Attempt{Op: attempt.OpClose, Conn: "silent"})
	if o := a.do(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "c", Args: []string{"shout"}}); o.Refused == "" {
		t.Errorf("%+v", o)
	}
}

func TestTransfersAreWhole(t *testing.T) {
	a := start(t, "lab", true)
	local := a.must(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "l"}).Local
	for i, size := range []int64{0, 1, 65535, 65536, 65537, 8 << 20} {
		seed := uint64(i)
		a.must(attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: local, Conn: "c"})
		o := a.must(attempt.Attempt{Op: attempt.OpExchange, Conn: "c", Size: size, Seed: seed, Until: "eof"})
		if o.Bytes != size || o.SHA256 != content.SHA256(seed, size) || int64(len(o.Data)) != min(size, 65536) {
			t.Errorf("%d bytes: %d came, %d kept", size, o.Bytes, len(o.Data))
		}
		a.must(attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: labSink, Conn: "c"}) // replaces and closes
		sent := a.must(attempt.Attempt{Op: attempt.OpSend, Conn: "c", Size: size, Seed: seed})
		a.must(attempt.Attempt{Op: attempt.OpCloseWrite, Conn: "c"})
		got := a.must(attempt.Attempt{Op: attempt.OpReceive, Conn: "c", Until: "eof"})
		if want := fmt.Sprintf("%d %s\n", size, content.SHA256(seed, size)); string(got.Data) != want || sent.Bytes != size {
			t.Errorf("sink says %q, want %q", got.Data, want)
		}
	}
}

func TestErrnosOfDials(t *testing.T) {
	a := start(t, "lab", true)
	a.want("ECONNREFUSED", attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: "127.0.0.1:1"})
	a.want("ECONNREFUSED", attempt.Attempt{Op: attempt.OpDial, Network: "udp", Address: "127.0.0.1:1", Data: []byte("x"), Until: "eof"})
	a.want("ECONNREFUSED", attempt.Attempt{Op: attempt.OpDial, Network: "unix", Address: "@nobody"})
	a.want("ENOENT", attempt.Attempt{Op: attempt.OpDial, Network: "unix", Address: "/nowhere.sock"})
	for _, network := range []string{"tcp4", "udp4"} {
		a.want("ENETUNREACH", attempt.Attempt{Op: attempt.OpDial, Network: network, Address: "203.0.113.1:80"})
	}
	a.want("ENETUNREACH", attempt.Attempt{Op: attempt.OpDial, Network: "tcp6", Address: "[2001:db8::1]:80"})
	a.want("ENETUNREACH", attempt.Attempt{Op: attempt.OpDial, Network: "raw", Address: "203.0.113.1"})
	a.want("timeout", attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: labBlackHole, TimeoutMS: 200})
	a.want("timeout", attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: labSink, Until: "line", TimeoutMS: 200})
	a.want("eof", attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: labHTTP, Data: []byte("GET / HTTP/1.0\r\n\r\n"), Until: "size", Size: 1 << 20})
}

func TestICMPOnLoopback(t *testing.T) {
	a := start(t, "lab", true)
	for _, address := range []string{"127.0.0.1", "::1"} {
		o := a.must(attempt.Attempt{Op: attempt.OpDial, Network: "raw", Address: address, Data: []byte("payload"), Until: "eof"})
		if !strings.Contains(string(o.Data), "payload") {
			t.Errorf("%s: %q", address, o.Data)
		}
	}
	// The ping sockets of a new namespace are closed to all (ping_group_range).
	a.want("EACCES", attempt.Attempt{Op: attempt.OpDial, Network: "icmp", Address: "127.0.0.1"})
}

func TestManyAtOnce(t *testing.T) {
	a := start(t, "lab", true)
	local := a.must(attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: "l"}).Local
	o := a.must(attempt.Attempt{Op: attempt.OpMany, Network: "tcp", Address: local, Count: 100, Data: []byte("a\nb"), Until: "line", Conn: "group"})
	if o.Value != 100 || o.Errnos[""] != 100 || o.Lines["a"] != 100 {
		t.Errorf("%+v", o)
	}
	a.must(attempt.Attempt{Op: attempt.OpClose, Conn: "group"})
	o = a.must(attempt.Attempt{Op: attempt.OpMany, Network: "tcp", Address: "127.0.0.1:1", Count: 5})
	if o.Value != 0 || o.Errnos["ECONNREFUSED"] != 5 {
		t.Errorf("%+v", o)
	}
}

func TestResolve(t *testing.T) {
	a := start(t, "lab", true)
	for _, network := range []string{"udp", "tcp"} {
		o := a.must(attempt.Attempt{Op: attempt.OpResolve, Address: "two.test", Network: network, Path: labDNS})
		if fmt.Sprint(o.Names) != "[203.0.113.1 2001:db8::1]" {
			t.Errorf("%s: %v", network, o.Names)
		}
		if o := a.want("other", attempt.Attempt{Op: attempt.OpResolve, Address: "no.test", Network: network, Path: labDNS}); !strings.Contains(o.Error, "NameError") {
			t.Errorf("%s: %s", network, o.Error)
		}
		a.want("timeout", attempt.Attempt{Op: attempt.OpResolve, Address: "silent.test", Network: network, Path: labDNS, TimeoutMS: 200})
		a.want("ECONNREFUSED", attempt.Attempt{Op: attempt.OpResolve, Address: "two.test", Network: network, Path: "127.0.0.1:1"})
		a.want("ENETUNREACH", attempt.Attempt{Op: attempt.OpResolve, Address: "two.test", Network: network, Path: "203.0.113.1:53"})
	}
}
