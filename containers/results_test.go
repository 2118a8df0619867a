package containers

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func archiveOf(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, header := range headers {
		if header.Typeflag == tar.TypeReg {
			header.Size = int64(len(header.Name))
		}
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := writer.Write([]byte(header.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return &buffer
}

func TestExtract(t *testing.T) {
	out := filepath.Join(t.TempDir(), "new", "out")
	var notes strings.Builder
	err := extract(archiveOf(t,
		tar.Header{Typeflag: tar.TypeDir, Name: "results/"},
		tar.Header{Typeflag: tar.TypeReg, Name: "results/a.json", Mode: 0o600},
		tar.Header{Typeflag: tar.TypeReg, Name: "results/deep/b.json", Mode: 0o4755},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "results/link", Linkname: "/etc/passwd"},
		tar.Header{Typeflag: tar.TypeFifo, Name: "results/pipe"},
	), "results", out, &notes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.json", "deep/b.json"} {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || string(content) != "results/"+name {
			t.Errorf("%s holds %q, %v", name, content, err)
		}
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Mode() != 0o644 {
			t.Errorf("%s has mode %v, %v; want 0644", name, info.Mode(), err)
		}
	}
	for _, name := range []string{"link", "pipe"} {
		if _, err := os.Lstat(filepath.Join(out, name)); !os.IsNotExist(err) {
			t.Errorf("%s was made (%v)", name, err)
		}
		if !strings.Contains(notes.String(), name) {
			t.Errorf("no note about %s in %q", name, notes.String())
		}
	}
}

func TestExtractStaysInside(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(parent, filepath.Join(out, "way-out")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"results/../../evil", "../evil", "results/way-out/evil"} {
		var notes strings.Builder
		err := extract(archiveOf(t, tar.Header{Typeflag: tar.TypeReg, Name: name}), "results", out, &notes)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(filepath.Join(parent, "evil")); err == nil {
			t.Errorf("%s: a file was made outside the folder", name)
		}
	}
}

func TestExtractCutShort(t *testing.T) {
	whole := archiveOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "results/a.json"}).Bytes()
	var notes strings.Builder
	if err := extract(bytes.NewReader(whole[:515]), "results", t.TempDir(), &notes); err == nil {
		t.Error("half an archive gave no error")
	}
}
