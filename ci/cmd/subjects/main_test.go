package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExits: what is wrong with the call, with the tools, and with the parts.
func TestExits(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put("binding/arapuca.go", "package arapuca\n\nimport \"C\"\n\nfunc f() { C.arapuca_launch() }\n")
	put("empty/readme", "")
	put("lib/libarapuca.a", "!<arch>\n/                                               4         `\n\x00\x00\x00\x00")
	put("tools/pkg-config", "#!/bin/sh\ncase $1 in --modversion) echo 0.2.4;; --variable=libdir) echo "+dir+"/lib;; esac\n")
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tt := range []struct {
		name string
		args []string
		path string
		code int
		want string
	}{
		{"nothing named", nil, "", 2, "name -binding and -out"},
		{"a flag that is none", []string{"-x"}, "", 2, "not defined"},
		{"no package", []string{"-binding", at("empty"), "-out", at("out")}, "", 4, "there is no Go package"},
		{"no pkg-config", []string{"-binding", at("binding"), "-out", at("out")}, "", 4, "install pkg-config and arapuca"},
		{
			"they do not fit",
			[]string{"-binding", at("binding"), "-binding-version", "v0.2.5", "-out", at("out")},
			at("tools"), 1,
			"go-arapuca 0.2.5 needs a newer arapuca: missing in arapuca 0.2.4: arapuca_launch",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			var told bytes.Buffer
			code, err := run(t.Context(), tt.args, &told)
			text := told.String()
			if err != nil {
				text += err.Error()
			}
			if code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("exit %d, %q; want %d, %q", code, text, tt.code, tt.want)
			}
		})
	}
}
