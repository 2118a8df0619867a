package upstream_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"bridgecheck/fakes/upstream"
)

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	s, err := upstream.Start("unix:"+path, upstream.SpeaksFirst)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.Fence(); got != 0 {
		t.Errorf("nobody came: %d", got)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "abc")
	_ = c.(*net.UnixConn).CloseWrite()
	if got := readAll(t, c); got != upstream.Banner+"abc" || s.Fence() != 1 {
		t.Errorf("got %q, counted %d", got, s.Fence())
	}
	s.Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}
