package content_test

import (
	"bytes"
	"io"
	"testing"

	"bridgecheck/fakes/content"
)

func TestReaderDependsOnSeedAlone(t *testing.T) {
	for _, size := range []int64{-1, 0, 1, 7, 8, 9, 65535, 65536, 65537} {
		a, _ := io.ReadAll(content.Reader(7, size))
		var b bytes.Buffer
		// Odd-sized reads must not change the sequence.
		_, _ = io.CopyBuffer(&b, struct{ io.Reader }{content.Reader(7, size)}, make([]byte, 13))
		if int64(len(a)) != max(size, 0) || !bytes.Equal(a, b.Bytes()) {
			t.Errorf("size %d: %d and %d bytes, equal %v", size, len(a), b.Len(), bytes.Equal(a, b.Bytes()))
		}
	}
	if content.SHA256(1, 100) == content.SHA256(2, 100) {
		t.Error("two seeds gave the same content")
	}
}

func TestDigestKeepsTheHeadAndHashesAll(t *testing.T) {
	d := content.Digest{Keep: 10}
	_, _ = io.Copy(&d, content.Reader(3, 1000))
	if d.Bytes != 1000 || len(d.Head) != 10 || d.SHA256() != content.SHA256(3, 1000) {
		t.Errorf("bytes %d, head %d, digest %s", d.Bytes, len(d.Head), d.SHA256())
	}
	var empty content.Digest
	if empty.SHA256() != content.SHA256(0, 0) {
		t.Error("digest of nothing differs")
	}
}
