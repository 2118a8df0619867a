package external

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	const most = 40
	whole := `{"refused":{"field":"F","reason":"` + strings.Repeat("x", most-len(`{"refused":{"field":"F","reason":""}}`)) + `"}}`
	for _, row := range []struct {
		name, text, err string
	}{
		{"about", `{"about":{"name":"a","fields":null}}` + "\n", ""},
		{"exited", `{"exited":{"code":0}}` + "\n", ""},
		{"without an end of line", `{"exited":{"code":0}}`, ""},
		{"as long as may be", whole + "\n", ""},
		{"a byte longer", strings.Replace(whole, "xx", "xxx", 1) + "\n", "longer than 40 bytes"},
		{"no end", strings.Repeat("x", 1<<20), "longer than 40 bytes"},
		{"empty line", "\n", "line"},
		{"garbage", "hello\n", `line "hello"`},
		{"null", "null\n", "says 0 things"},
		{"nothing set", "{}\n", "says 0 things"},
		{"two things", `{"exited":{"code":0},"started":{"pid":1}}` + "\n", "longer"},
		{"two values", `{"exited":{"code":0}}{}` + "\n", "more than one value"},
		{"unknown", `{"exhausted":{}}` + "\n", "unknown field"},
		{"cut off", `{"exited":{"co`, "unexpected EOF"},
		{"wrong type", `{"exited":{"code":"0"}}` + "\n", "cannot unmarshal"},
		{"end", "", "EOF"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := newLines[report](strings.NewReader(row.text), most).next()
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("error %v, want %q", err, row.err)
			}
		})
	}
	if _, err := newLines[order](strings.NewReader(`{"kill":true,"signal":15}`), 100).next(); err == nil || !strings.Contains(err.Error(), "says 2 things") {
		t.Errorf("two orders in one: %v", err)
	}
}

// Whatever comes, a reader gives whole reports, an error or the end; what it gives
// it also reads again as it writes it.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		`{"about":{"name":"a","fields":["seccomp"]}}`, `{"started":{"pid":3}}`, `{"failed":{"stage":"clone","errno":"EPERM","reason":"r"}}`,
		`{"exited":{"code":1,"signal":9}}`, "{}\n{\"exited\":{\"code\":1}}\n", "\x00", `{"started":{"pid":3}}{"started":{"pid":3}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l := newLines[report](bytes.NewReader(text), 512)
		for n := 0; ; n++ {
			r, err := l.next()
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return
			}
			if err != nil {
				return
			}
			if set(r) != 1 || n > len(text) {
				t.Fatalf("report %+v", r)
			}
			var again bytes.Buffer
			if err := send(&again, r); err != nil {
				t.Fatal(err)
			}
			if _, err := newLines[report](&again, maxReport).next(); err != nil {
				t.Fatalf("%+v cannot be read again: %v", r, err)
			}
		}
	})
}
