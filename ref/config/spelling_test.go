package config

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"names", "command", "args", "env", "url", "port", "paths", "start_timeout", "stop_timeout"}
	for word, want := range map[string]string{
		"comand": "command", "comamnd": "command", "Command": "command", "cmd": "", "ulr": "url", "uri": "url", "x": "",
		"parts": "", "start-timeout": "start_timeout", "stat_timeout": "start_timeout", "timeout": "", "environment": "", "commandline": "",
		"prot": "port", "": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
