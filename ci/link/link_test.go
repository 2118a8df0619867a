package link_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ci/link"
)

// binding is a package like go-arapuca's, with everything that must and must not
// count as a call.
const binding = `package arapuca

/*
#include <arapuca.h>
// arapuca_in_a_comment();
static inline int launch(void) { log("arapuca_in_text()"); return arapuca_launch (0); }
*/
import "C"

const port = C.arapuca_BRIDGE_PORT

func New() { var p *C.arapuca_sandbox; _ = p; C.arapuca_sandbox_new(); f(arapuca_no_c()) }
`

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNeeds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "arapuca.go", binding)
	write(t, dir, "arapuca_test.go", "package arapuca\nimport \"C\"\nfunc f() { C.arapuca_of_a_test() }\n")
	write(t, dir, "mac_darwin.go", "package arapuca\nimport \"C\"\nfunc g() { C.arapuca_of_darwin() }\n")
	write(t, dir, "microvm.go", "//go:build microvm\n\npackage arapuca\n\nimport \"C\"\n\nfunc h() { C.arapuca_image_pull() }\n")
	write(t, dir, "pure.go", "package arapuca\nfunc i() { D.arapuca_of_d() }\n")
	write(t, dir, "notes.txt", "C.arapuca_of_a_text()")

	want := []string{"arapuca_launch", "arapuca_sandbox_new"}
	if got, err := link.Needs(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("needs %q, %v; want %q", got, err, want)
	}
	if _, err := link.Needs(t.TempDir()); err == nil {
		t.Error("a folder without a binding was accepted")
	}
}

// archive is a static library that holds nothing but the index ld reads.
func archive(name string, width int, symbols ...string) []byte {
	var index bytes.Buffer
	number := func(n uint64) {
		if width == 8 {
			_ = binary.Write(&index, binary.BigEndian, n)
		} else {
			_ = binary.Write(&index, binary.BigEndian, uint32(n))
		}
	}
	number(uint64(len(symbols)))
	for range symbols {
		number(8)
	}
	for _, s := range symbols {
		index.WriteString(s + "\x00")
	}
	return fmt.Appendf(nil, "!<arch>\n%-16s%-12d%-6d%-6d%-8d%-10d`\n%s", name, 0, 0, 0, 0, index.Len(), index.Bytes())
}

func TestSymbols(t *testing.T) {
	dir := t.TempDir()
	whole := archive("/", 4, "arapuca_launch", "x")
	wrongCount := slices.Clone(whole)
	wrongCount[8+60+3] = 200
	wrongSize := []byte(strings.Replace(string(whole), "29        `", "x         `", 1))
	for _, tt := range []struct {
		name string
		data []byte
		want string // of the error; empty for none
	}{
		{"32 bit", whole, ""},
		{"64 bit", archive("/SYM64/", 8, "arapuca_launch", "x"), ""},
		{"no symbols", archive("/", 4), ""},
		{"no index", archive("object.o/", 4, "a"), "ranlib"},
		{"no member", []byte("!<arch>\n"), "ranlib"},
		{"cut index", whole[:len(whole)-3], "cut"},
		{"count too high", wrongCount, "names 200 symbols"},
		{"size no number", wrongSize, "has the size"},
		{"neither", []byte("0123456789"), "neither a static library nor a shared one"},
		{"empty", nil, "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := link.Symbols(write(t, dir, "lib.a", string(tt.data)))
			switch {
			case tt.want == "" && (err != nil || got["arapuca_launch"] != (tt.name != "no symbols")):
				t.Errorf("%v, %v", got, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func FuzzSymbols(f *testing.F) {
	f.Add(archive("/", 4, "a", "b"))
	f.Add(archive("/SYM64/", 8, "a"))
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "lib")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = link.Symbols(path) // it must end, whatever it says
	})
}

// TestSymbolsOfCompiledLibraries asks what a C compiler and ar make.
func TestSymbolsOfCompiledLibraries(t *testing.T) {
	for _, tool := range []string{"cc", "ar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing; install gcc and binutils", tool)
		}
	}
	dir := t.TempDir()
	write(t, dir, "a.c", "static int hidden(void){return 1;}\nextern int arapuca_undefined(void);\nint arapuca_launch(void){return hidden()+arapuca_undefined();}\n")
	for _, line := range []string{
		"cc -c a.c -o a.o", "ar rcs liba.a a.o", "cc -shared -fPIC a.c -o liba.so",
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", line, err, out)
		}
	}
	for _, name := range []string{"liba.a", "liba.so"} {
		got, err := link.Symbols(filepath.Join(dir, name))
		if err != nil || !got["arapuca_launch"] || got["arapuca_undefined"] || got["hidden"] {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
