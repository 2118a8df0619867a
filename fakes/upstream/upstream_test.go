package upstream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/fakes/content"
	"bridgecheck/fakes/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, kind upstream.Kind) *upstream.Server {
	t.Helper()
	s, err := upstream.Start("127.0.0.1:0", kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// dial connects to the server, with a cap on the whole conversation.
func dial(t *testing.T, s *upstream.Server) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	return c.(*net.TCPConn)
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRawKinds(t *testing.T) {
	const size = 1 << 20
	for _, c := range []struct {
		kind       upstream.Kind
		send, want string
	}{
		{upstream.RawEcho, "abc", "abc"},
		{upstream.SpeaksFirst, "abc", upstream.Banner + "abc"},
		{upstream.EndsFirst, "abc", upstream.Banner},
		{upstream.Silent, "abc", ""},
		{upstream.Sink, "abc", "3 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n"},
		{upstream.Source, "3 1", readAll(t, content.Reader(1, 3))},
		{upstream.Source, "no number", "send \"SIZE SEED\": expected integer\n"},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			s := start(t, c.kind)
			client := dial(t, s)
			_, _ = io.WriteString(client, c.send)
			_ = client.CloseWrite()
			if got := readAll(t, client); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			streams := s.Streams()
			for deadline := time.Now().Add(10 * time.Second); !streams[0].Ended && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond) // who ends first has not read yet
				streams = s.Streams()
			}
			if s.Connections() != 1 || len(streams) != 1 || string(streams[0].Head) != c.send || !streams[0].Ended {
				t.Errorf("connections %d, streams %+v", s.Connections(), streams)
			}
		})
	}
	t.Run("large", func(t *testing.T) {
		s := start(t, upstream.Sink)
		client := dial(t, s)
		_, _ = io.Copy(client, content.Reader(5, size))
		_ = client.CloseWrite()
		want := fmt.Sprintf("%d %s\n", size, content.SHA256(5, size))
		if got := readAll(t, client); got != want || s.Bytes() != size {
			t.Errorf("got %q, counted %d", got, s.Bytes())
		}
	})
}

func TestSinkAndSourceWaitForTheHalfClose(t *testing.T) {
	for _, kind := range []upstream.Kind{upstream.Sink, upstream.Source} {
		client := dial(t, start(t, kind))
		_, _ = io.WriteString(client, "5 1")
		_ = client.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s spoke before the half-close: %v", kind, err)
		}
	}
}

func TestTickerTicks(t *testing.T) {
	client := dial(t, start(t, upstream.Ticker))
	if _, err := io.ReadFull(client, make([]byte, 2)); err != nil {
		t.Error(err)
	}
}

func TestFenceSeparatesOwnConnections(t *testing.T) {
	for _, kind := range []upstream.Kind{upstream.RawEcho, upstream.Silent, upstream.HTTP, upstream.TLS, upstream.UDP, upstream.Sink} {
		t.Run(string(kind), func(t *testing.T) {
			s := start(t, kind)
			if got := s.Fence(); got != 0 {
				t.Errorf("nobody came: %d", got)
			}
			network := "tcp"
			if kind == upstream.UDP {
				network = "udp"
			}
			for range 3 {
				c, err := net.Dial(network, s.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				_, _ = c.Write([]byte{'x'})
				_ = c.Close()
			}
			// The three are before the fence in the queue: no waiting.
			if got := s.Fence(); got != 3 {
				t.Errorf("three came: %d", got)
			}
			if got := s.Connections(); got != 3 {
				t.Errorf("connections %d", got)
			}
		})
	}
}

func TestFenceWhileOthersConnect(t *testing.T) {
	s := start(t, upstream.RawEcho)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c, err := net.Dial("tcp", s.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			_ = c.Close()
			s.Fence()
		})
	}
	all.Wait()
	if got := s.Fence(); got != 8 {
		t.Errorf("%d connections, want 8", got)
	}
}

func TestBlackHoleNeverAnswers(t *testing.T) {
	s := start(t, upstream.BlackHole)
	c, err := net.DialTimeout("tcp", s.Addr().String(), 300*time.Millisecond)
	if err == nil {
		_ = c.Close()
		t.Fatal("connected")
	}
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("%v is no timeout", err)
	}
	if s.Connections() != 0 || s.Fence() != 0 {
		t.Error("counted something")
	}
}

func TestUDPEchoes(t *testing.T) {
	s := start(t, upstream.UDP)
	c, err := net.Dial("udp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, "abc")
	buffer := make([]byte, 10)
	if n, err := c.Read(buffer); err != nil || string(buffer[:n]) != "abc" || s.Connections() != 1 {
		t.Errorf("%q, %v, %d datagrams", buffer[:n], err, s.Connections())
	}
}

func TestHTTPRecordsWhatArrived(t *testing.T) {
	s := start(t, upstream.HTTP)
	client := dial(t, s)
	_, _ = io.WriteString(client, "POST http://other.test/a%2Fb/../c?nonce=n7 HTTP/1.1\r\nHost: x.test\r\nContent-Length: 3\r\nX-A: 1\r\nX-A: 2\r\n\r\nabcGET /status/418 HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n")
	got := readAll(t, client)
	if !strings.Contains(got, "HTTP/1.1 200 OK") || !strings.Contains(got, "HTTP/1.1 418 ") {
		t.Errorf("answers %q", got)
	}
	requests := s.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	first := requests[0]
	if first.Target != "http://other.test/a%2Fb/../c?nonce=n7" || first.Nonce != "n7" || first.BodyBytes != 3 ||
		first.BodySHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" || len(first.Header["X-A"]) != 2 {
		t.Errorf("recorded %+v", first)
	}
}

func TestHTTPPaths(t *testing.T) {
	s := start(t, upstream.HTTP)
	client := dial(t, s)
	_, _ = io.WriteString(client, "GET /bytes?size=70000&seed=3 HTTP/1.1\r\nHost: h\r\n\r\n")
	reader := bufio.NewReader(client)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	var digest content.Digest
	_, _ = io.Copy(&digest, answer.Body)
	if digest.SHA256() != content.SHA256(3, 70000) {
		t.Error("other bytes came")
	}
	_, _ = io.WriteString(client, "GET /upgrade HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nping")
	answer, err = http.ReadResponse(reader, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Upgrade") != "websocket" {
		t.Fatalf("%v, %v", answer, err)
	}
	echoed := make([]byte, 4)
	if _, err := io.ReadFull(reader, echoed); err != nil || string(echoed) != "ping" {
		t.Errorf("echo %q, %v", echoed, err)
	}
}

func TestTLSHasACertificateForAnyName(t *testing.T) {
	s := start(t, upstream.TLS)
	pem, err := upstream.CA()
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	for _, name := range []string{"a.test", "b.test", "127.0.0.1"} {
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", s.Addr().String())
			},
		}
		answer, err := (&http.Client{Transport: transport}).Get("https://" + name + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		transport.CloseIdleConnections()
	}
	requests := s.Requests()
	if len(requests) != 3 || requests[0].SNI != "a.test" || requests[1].SNI != "b.test" {
		t.Errorf("%+v", requests)
	}
}

func TestStartRefuses(t *testing.T) {
	taken := start(t, upstream.RawEcho)
	for _, c := range []struct {
		addr string
		kind upstream.Kind
	}{
		{"localhost:0", upstream.HTTP},
		{"127.0.0.1", upstream.HTTP},
		{"127.0.0.1:0", "nonsense"},
		{taken.Addr().String(), upstream.HTTP},
		{"192.0.2.1:0", upstream.UDP},
	} {
		if s, err := upstream.Start(c.addr, c.kind); err == nil {
			s.Close()
			t.Errorf("%s %s: started", c.addr, c.kind)
		}
	}
	taken.Close()
	taken.Close() // a second time does nothing
}
