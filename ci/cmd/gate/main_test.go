package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "which go-arapuca?"},
		{[]string{"-nothing"}, 2, "flag provided but not defined"},
		{[]string{"-go-arapuca", "./none"}, 4, "name an existing folder"},
		{[]string{"-go-arapuca", "main", "-subject", "refbridge"}, 4, "the gate judges ref-arapuca"},
	} {
		var out, log bytes.Buffer
		code, err := run(t.Context(), tt.args, &out, &log)
		if code != tt.code || err == nil || !strings.Contains(err.Error(), tt.want) || out.Len() > 0 {
			t.Errorf("%v: %d, %v, %q; want %d, %q", tt.args, code, err, &out, tt.code, tt.want)
		}
	}
}
