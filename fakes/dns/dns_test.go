package dns_test

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/fakes/dns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *dns.Server {
	t.Helper()
	s, err := dns.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// lookup asks with the resolver of the standard library.
func lookup(s *dns.Server, network, name string, timeout time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Addr().String())
	}}
	found, err := r.LookupHost(ctx, name+".")
	slices.Sort(found)
	return found, err
}

func TestAnswers(t *testing.T) {
	s := start(t)
	s.Set("both.test", dns.Addresses("203.0.113.1", "203.0.113.2", "2001:db8::1"))
	s.Set("Mixed.Test.", dns.Addresses("203.0.113.3"))
	s.Set("alias.test", dns.CNAME("mixed.test"))
	s.Set("dangling.test", dns.CNAME("nowhere.test"))
	s.Set("loop.test", dns.CNAME("loop.test"))
	s.Set("broken.test", dns.ServFail())
	s.Set("gone.test", dns.NXDomain())
	s.Set("empty.test", dns.Addresses())
	for _, network := range []string{"udp", "tcp"} {
		for _, c := range []struct {
			name     string
			want     []string
			notFound bool
		}{
			{name: "both.test", want: []string{"2001:db8::1", "203.0.113.1", "203.0.113.2"}},
			{name: "mixed.test", want: []string{"203.0.113.3"}},
			{name: "MIXED.test", want: []string{"203.0.113.3"}},
			{name: "alias.test", want: []string{"203.0.113.3"}},
			{name: "dangling.test", notFound: true},
			{name: "loop.test"},
			{name: "broken.test"},
			{name: "gone.test", notFound: true},
			{name: "empty.test", notFound: true},
			{name: "unknown.test", notFound: true},
		} {
			found, err := lookup(s, network, c.name, 10*time.Second)
			if !reflect.DeepEqual(found, c.want) {
				t.Errorf("%s %s: %v, %v", network, c.name, found, err)
			}
			var failure *net.DNSError
			if c.want == nil && (!errors.As(err, &failure) || failure.IsNotFound != c.notFound) {
				t.Errorf("%s %s: error %v, want not found %v", network, c.name, err, c.notFound)
			}
		}
	}
}

func TestAnswersInTurn(t *testing.T) {
	s := start(t)
	s.Set("rebind.test", dns.Addresses("203.0.113.1"), dns.Addresses("127.0.0.1"))
	for i, want := range []string{"203.0.113.1", "127.0.0.1", "127.0.0.1"} {
		if found, err := lookup(s, "udp", "rebind.test", 10*time.Second); err != nil || found[0] != want {
			t.Errorf("lookup %d: %v, %v", i, found, err)
		}
	}
	s.Set("rebind.test")
	if found, err := lookup(s, "udp", "rebind.test", 10*time.Second); err == nil {
		t.Errorf("taken back, yet %v", found)
	}
}

func TestSilenceIsCounted(t *testing.T) {
	s := start(t)
	s.Set("silent.test", dns.Silence())
	if _, err := lookup(s, "udp", "silent.test", 100*time.Millisecond); err == nil {
		t.Error("answered")
	}
	if s.Queries("silent.test") == 0 || s.Queries("other.test") != 0 {
		t.Errorf("log %+v", s.Log())
	}
	first := s.Log()[0]
	if first.Name != "silent.test" || first.Network != "udp" || (first.Type != "A" && first.Type != "AAAA") {
		t.Errorf("logged %+v", first)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := start(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				s.Set("busy.test", dns.Addresses("203.0.113.9"))
				if found, err := lookup(s, "udp", "busy.test", 10*time.Second); err != nil || found[0] != "203.0.113.9" {
					t.Errorf("%v, %v", found, err)
				}
				s.Queries("busy.test")
			}
		})
	}
	all.Wait()
}

func TestGarbageIsNotAnswered(t *testing.T) {
	s := start(t)
	c, err := net.Dial("udp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for _, packet := range [][]byte{{0}, make([]byte, 12), make([]byte, 500)} {
		_, _ = c.Write(packet)
	}
	s.Set("alive.test", dns.Addresses("203.0.113.9"))
	if _, err := lookup(s, "udp", "alive.test", 10*time.Second); err != nil {
		t.Error(err)
	}
	if len(s.Log()) != 2 {
		t.Errorf("log %+v", s.Log())
	}
}

func TestStartRefuses(t *testing.T) {
	s := start(t)
	for _, addr := range []string{"localhost:0", "127.0.0.1", s.Addr().String(), "192.0.2.1:0"} {
		if other, err := dns.Start(addr); err == nil {
			other.Close()
			t.Errorf("%s: started", addr)
		}
	}
	s.Close() // twice, with the clean-up
}
