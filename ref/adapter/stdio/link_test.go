package stdio_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref/adapter/jsonrpc"
	"bridgecheck/ref/adapter/stdio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is a link with the server's ends of its pipes.
func pair(t *testing.T, opts stdio.Options) (l *stdio.Link, in *bufio.Reader, out *io.PipeWriter) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	opts.Server = "s"
	l = stdio.NewLink(inW, outR, opts)
	t.Cleanup(func() { _ = outW.Close(); _ = inR.Close(); <-l.Done(); l.CloseInput() })
	return l, bufio.NewReader(inR), outW
}

// read gives everything to a link and returns the messages and why it ended.
func read(t *testing.T, out io.Reader, opts stdio.Options) (got []string, err error) {
	t.Helper()
	opts.Server = "s"
	l := stdio.NewLink(discard{}, out, opts)
	var mu sync.Mutex
	l.Handle(func(m jsonrpc.Message) { mu.Lock(); got = append(got, string(m.Raw)); mu.Unlock() })
	<-l.Done()
	mu.Lock()
	defer mu.Unlock()
	return got, l.Err()
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

func TestFraming(t *testing.T) {
	for _, row := range []struct {
		title, out string
		want       []string
	}{
		{"one", `{"method":"a"}` + "\n", []string{`{"method":"a"}`}},
		{"CRLF and blank lines", "\r\n\n{\"method\":\"a\"}\r\n \t\n", []string{`{"method":"a"}`}},
		{"last without a newline", `{"method":"a"}`, []string{`{"method":"a"}`}},
		{"batch", `[{"method":"a"}, {"method":"b"}]` + "\n", []string{`{"method":"a"}`, `{"method":"b"}`}},
		{"banner", "Server 1.0\n{\"method\":\"a\"}\n[info] ready\n{}\n7\n", []string{`{"method":"a"}`}},
		{"pretty-printed", "{\n  \"method\": \"a\"\n}\n{\"method\":\"b\"}\n", []string{`{"method":"b"}`}},
		{"unicode", "{\"method\":\"é\u2028\"}\n", []string{"{\"method\":\"é\u2028\"}"}},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(row.out), "byte by byte": iotest.OneByteReader(strings.NewReader(row.out)),
		} {
			got, err := read(t, r, stdio.Options{})
			if strings.Join(got, "\n") != strings.Join(row.want, "\n") || !errors.Is(err, stdio.ErrClosed) {
				t.Errorf("%s, %s: got %q, %v", row.title, name, got, err)
			}
		}
	}
}

func TestGarbageEndsTheLink(t *testing.T) {
	const garbage, message = "noise\n", `{"method":"a"}` + "\n"
	for lines, want := range map[int]error{5: stdio.ErrClosed, 6: stdio.ErrGarbage} {
		got, err := read(t, strings.NewReader(strings.Repeat(garbage, lines)+message), stdio.Options{GarbageLines: 5})
		if !errors.Is(err, want) {
			t.Errorf("%d lines: %q, %v", lines, got, err)
		}
	}
	// A message in between shows that the server speaks MCP all the same.
	long := strings.Repeat(strings.Repeat(garbage, 5)+message, 10)
	if got, err := read(t, strings.NewReader(long), stdio.Options{GarbageLines: 5}); len(got) != 10 || !errors.Is(err, stdio.ErrClosed) {
		t.Errorf("%d messages, %v", len(got), err)
	}
}

func TestLengthOfALine(t *testing.T) {
	for _, limit := range []int{100, 64 << 10, 1 << 20} {
		for _, size := range []int{limit - 1, limit, limit + 1, 3 * limit} {
			line := `{"id":5,"result":"` + strings.Repeat("x", size-20) + `"}`
			got, _ := read(t, strings.NewReader(line+"\n"+`{"method":"next"}`+"\n"), stdio.Options{MessageBytes: limit})
			if len(got) != 2 || got[1] != `{"method":"next"}` {
				t.Fatalf("limit %d, %d bytes: %d messages", limit, size, len(got))
			}
			if whole := got[0] == line; whole != (size <= limit) {
				t.Errorf("limit %d, %d bytes: got %d bytes", limit, size, len(got[0]))
			}
			if size > limit && !strings.HasPrefix(got[0], `{"jsonrpc":"2.0","id":5,"error"`) {
				t.Errorf("limit %d, %d bytes: got %s", limit, size, got[0])
			}
		}
	}
}

func TestCallsAreApartFromTheClients(t *testing.T) {
	l, in, out := pair(t, stdio.Options{})
	var seen []string
	l.Handle(func(m jsonrpc.Message) { seen = append(seen, string(m.Raw)) })
	ctx, cancel := context.WithCancel(t.Context())
	late := make(chan error, 1)
	go func() { _, err := l.Call(ctx, "ping", ""); late <- err }()
	line, err := in.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	ask, err := jsonrpc.Parse(line)
	if err != nil || ask.Method != "ping" || ask.Params.Present() {
		t.Fatalf("asked %s, %v", line, err)
	}
	cancel()
	if err := <-late; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was cancelled: %v", err)
	}
	answer := func(id string) { _, _ = io.WriteString(out, `{"id":`+id+`,"result":{}}`+"\n") }
	answer(string(ask.ID.Of(line))) // too late
	answer("1")
	result := make(chan error, 1)
	go func() { _, err := l.Call(t.Context(), "m", "{}"); result <- err }()
	line, err = in.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	ask, _ = jsonrpc.Parse(line)
	answer(string(ask.ID.Of(line)))
	if err := <-result; err != nil {
		t.Error(err)
	}
	if len(seen) != 1 || seen[0] != `{"id":1,"result":{}}` {
		t.Errorf("the client got %q", seen)
	}
	pending := make(chan error, 1)
	go func() { _, err := l.Call(t.Context(), "m", ""); pending <- err }()
	if _, err := in.ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	if err := <-pending; !errors.Is(err, stdio.ErrClosed) {
		t.Errorf("a call whose server ends: %v", err)
	}
	if err := l.Send([]byte("{}")); !errors.Is(err, stdio.ErrClosed) {
		t.Errorf("a message after the end: %v", err)
	}
}

func TestServerThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	l, _, _ := pair(t, stdio.Options{MessageBytes: 1000})
	var err error
	for n := 0; err == nil && n < 100; n++ {
		err = l.Send(bytes.Repeat([]byte("x"), 500))
	}
	if err == nil || !strings.Contains(err.Error(), "does not read") {
		t.Errorf("error is %v", err)
	}
}

func TestMessagesBeforeThereIsAHandlerAreKept(t *testing.T) {
	l, _, out := pair(t, stdio.Options{})
	_, _ = io.WriteString(out, `{"method":"a"}`+"\n"+`{"method":"b"}`+"\n")
	got := make(chan string, 10)
	time.Sleep(10 * time.Millisecond) // they may be there already or still come: both must do
	l.Handle(func(m jsonrpc.Message) { got <- m.Method })
	_, _ = io.WriteString(out, `{"method":"c"}`+"\n")
	if order := <-got + <-got + <-got; order != "abc" {
		t.Errorf("order is %s", order)
	}
}

// FuzzLink demands that whatever a server writes, each message comes out as it
// was or is told to be too long, and that nothing else comes out.
func FuzzLink(f *testing.F) {
	f.Add([]byte("{\"method\":\"a\"}\r\nnoise\n[{\"id\":1,\"result\":2}]\n"), 100)
	f.Add([]byte(`{"id":1,"result":{"id":2,"x":"\"}"}}`+"\n"), 10)
	f.Fuzz(func(t *testing.T, raw []byte, limit int) {
		limit = 1 + max(0, limit)%1000
		got, err := read(t, bytes.NewReader(raw), stdio.Options{MessageBytes: limit, GarbageLines: 1 << 30})
		if !errors.Is(err, stdio.ErrClosed) {
			t.Fatal(err)
		}
		var want, long []string // long: ids of answers that are too long
		for line := range bytes.SplitSeq(raw, []byte("\n")) {
			tooLong := len(line) > limit
			line = jsonrpc.OneLine(line)
			batch := jsonrpc.Elements(line)
			if batch == nil {
				batch = [][]byte{line}
			}
			for _, one := range batch {
				switch m, err := jsonrpc.Parse(one); {
				case err != nil:
				case !tooLong:
					want = append(want, string(m.Raw))
				case m.Kind == jsonrpc.Response && len(one) == len(line):
					long = append(long, string(m.ID.Of(m.Raw)))
				}
			}
		}
		var whole []string
		for _, one := range got {
			if !strings.Contains(one, "sent a message of more than") {
				whole = append(whole, one)
			} else if len(long) > 0 && strings.HasPrefix(one, `{"jsonrpc":"2.0","id":`+long[0]+`,"error"`) {
				long = long[1:] // a long line that is no message may be answered as well
			}
		}
		if strings.Join(whole, "\n") != strings.Join(want, "\n") || len(long) > 0 {
			t.Errorf("got %q, want %q and errors for %q", got, want, long)
		}
	})
}

// What was sent comes before the end of input, unless the server does not read.
func TestEndOfInputComesLast(t *testing.T) {
	l, in, out := pair(t, stdio.Options{})
	for range 100 {
		if err := l.Send([]byte(`{"method":"a"}`)); err != nil {
			t.Fatal(err)
		}
	}
	go l.CloseInput()
	text, err := io.ReadAll(in)
	if lines := bytes.Count(text, []byte("\n")); lines != 100 || err != nil {
		t.Errorf("%d lines, %v", lines, err)
	}
	_ = out.Close()

	l, _, _ = pair(t, stdio.Options{})
	if err := l.Send([]byte(`{"method":"a"}`)); err != nil {
		t.Fatal(err)
	}
	l.CloseInput() // returns
}
