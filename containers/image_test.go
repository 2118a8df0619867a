package containers

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func entries(t *testing.T, archive io.Reader) map[string]*tar.Header {
	t.Helper()
	found := map[string]*tar.Header{}
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if found[header.Name] != nil {
			t.Errorf("%s stands twice", header.Name)
		}
		found[header.Name] = header
	}
}

func TestRootFS(t *testing.T) {
	file := filepath.Join(t.TempDir(), "probe")
	if err := os.WriteFile(file, []byte("binary"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := rootFS(map[string]HostFile{
		"/opt/bin/probe": {Path: file},
		"/etc/extra":     {Path: file, Mode: 0o400},
		"/etc/passwd":    {Path: file, Mode: 0o644},
	})
	if err != nil {
		t.Fatal(err)
	}
	found := entries(t, bytes.NewReader(root))
	for name, mode := range map[string]int64{
		"tmp/": 0o1777, "proc/": 0o555, "sys/": 0o555, "dev/": 0o755, "etc/": 0o755, "opt/": 0o755, "opt/bin/": 0o755,
		"opt/bin/probe": 0o755, "etc/extra": 0o400, "etc/passwd": 0o644, "etc/group": 0o644, "etc/nsswitch.conf": 0o644,
	} {
		header := found[name]
		if header == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if header.Mode != mode || header.Uid != 0 || header.Gid != 0 {
			t.Errorf("%s: mode %o of %d:%d, want %o of 0:0", name, header.Mode, header.Uid, header.Gid, mode)
		}
	}
	if size := found["etc/passwd"].Size; size != int64(len("binary")) {
		t.Errorf("/etc/passwd has %d bytes; the given file must win", size)
	}
}

func TestBuildContext(t *testing.T) {
	archive, err := buildContext(nil, map[string]string{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	found := entries(t, archive)
	if len(found) != 2 || found["Dockerfile"] == nil || found[rootTar] == nil {
		t.Errorf("the context holds %v, want Dockerfile and %s", found, rootTar)
	}
	if _, err := buildContext(map[string]HostFile{"/probe": {Path: "/no/such/file"}}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing host file gave %v, want not-exist", err)
	}
}
