package ref_test

import (
	"context"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
)

// floodBytes go through stdout while stderr is flooded; flooded is what is
// written at a time, no power of two.
const floodBytes = 1 << 30

func flooded() []byte {
	p := make([]byte, 1<<20-7)
	for i := range p {
		p[i] = byte(i * i >> 3)
	}
	return p
}

// flood is an agent that writes to both at once.
func flood() int {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for p := flooded(); ; {
			if _, err := os.Stderr.Write(p); err != nil {
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	code := 0
	for p, left := flooded(), floodBytes; left > 0; left -= len(p) {
		if _, err := os.Stdout.Write(p[:min(left, len(p))]); err != nil {
			code = 1
			break
		}
	}
	close(done)
	wg.Wait()
	return code
}

// LIF-011: much through stdout while stderr floods, both whole.
func TestFlood(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	if testing.Short() {
		t.Skip("a GiB takes a second or two")
	}
	table, p := crc32.MakeTable(crc32.Castagnoli), flooded()
	sum := func(r io.Reader) (crc uint32, n int) {
		buf := make([]byte, 1<<20)
		for {
			got, err := r.Read(buf)
			crc, n = crc32.Update(crc, table, buf[:got]), n+got
			if err != nil {
				return crc, n
			}
		}
	}
	var want uint32
	for left := floodBytes; left > 0; left -= len(p) {
		want = crc32.Update(want, table, p[:min(left, len(p))])
	}
	var wg sync.WaitGroup
	var ends [2]*os.File
	var crcs [2]uint32
	var sizes [2]int
	for i := range ends {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = w
		wg.Go(func() { crcs[i], sizes[i] = sum(r); _ = r.Close() })
	}
	r := phase(context.Background(), t, config.Spec{Agent: agent(t, "flood")}, func(o *ref.Options) { o.Stdout, o.Stderr = ends[0], ends[1] })
	for _, w := range ends {
		_ = w.Close()
	}
	wg.Wait()
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	if crcs[0] != want || sizes[0] != floodBytes {
		t.Errorf("stdout: %d bytes with sum %x, want %d with %x", sizes[0], crcs[0], floodBytes, want)
	}
	if sizes[1] == 0 || sizes[1]%len(p) != 0 {
		t.Errorf("stderr: %d bytes, want a multiple of %d", sizes[1], len(p))
	}
}
