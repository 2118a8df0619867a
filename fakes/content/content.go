// Package content makes the pseudo-random bytes of a transfer from a seed, so
// that both ends know what must arrive without sending it twice. The generator
// is ChaCha8 (math/rand/v2), whose output is fixed by its documentation.
package content

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"math/rand/v2"
)

// Reader yields size bytes that depend on seed alone, then io.EOF. A size of
// zero or less is empty.
func Reader(seed uint64, size int64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return io.LimitReader(rand.NewChaCha8(key), size)
}

// SHA256 is the lower-case hexadecimal digest of what [Reader] yields.
func SHA256(seed uint64, size int64) string {
	digest := sha256.New()
	_, _ = io.Copy(digest, Reader(seed, size)) // neither side can fail
	return hex.EncodeToString(digest.Sum(nil))
}

// Digest counts and hashes what is written to it and keeps the first Keep bytes.
type Digest struct {
	// Keep is how many leading bytes Head holds at most.
	Keep int
	// Head are the leading bytes, Bytes is the count of all.
	Head  []byte
	Bytes int64

	sum hash.Hash
}

// Write never fails.
func (d *Digest) Write(p []byte) (int, error) {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	if room := d.Keep - len(d.Head); room > 0 {
		d.Head = append(d.Head, p[:min(room, len(p))]...)
	}
	d.Bytes += int64(len(p))
	return d.sum.Write(p)
}

// SHA256 is the lower-case hexadecimal digest of everything written so far.
func (d *Digest) SHA256() string {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	return hex.EncodeToString(d.sum.Sum(nil))
}
