package mcpserver_test

import (
	"log/slog"
	"strings"
	"testing"

	"bridgecheck/ref/mcpserver"
)

// What a server tells of its own environment comes into no error, event or log.
func TestSecretsThatAServerTells(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-of-\U0001F600-jira"
	logged := &log{}
	m, events, _ := newManager(t, func(o *mcpserver.Options) {
		o.Log = slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})).With("part", "test")
	})
	cfg := config(t, "tell-token exit")
	cfg.Env["TOKEN"], cfg.Env["WORD"], cfg.Env["LONGER"] = secret, "key", secret+"-and-more"
	_, err := m.Start(t.Context(), "bad", cfg)
	if err == nil || !strings.Contains(err.Error(), "key:${TOKEN};") || strings.Contains(err.Error(), secret) {
		t.Errorf("the error is %v", err)
	}
	delete(cfg.Env, "LONGER")
	cfg.Env["TOKEN"] = strings.Repeat("\U0001F600", 300) // longer than what is kept of a line
	if _, err = m.Start(t.Context(), "long", cfg); err == nil || !strings.Contains(err.Error(), "key:${TOKEN}") {
		t.Errorf("the error is %v", err)
	}
	cfg.Env["TOKEN"] = secret
	cfg.Env["FAKE"] = "fake tell-token"
	socket, err := m.Start(t.Context(), "s", cfg)
	if err != nil {
		t.Fatal(err)
	}
	post(httpClient(t, socket), session(t, socket), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"die"}}`)
	events.await(t, "server-exited", "key:${TOKEN};")
	for name, text := range map[string]string{"events": events.String(), "log": logged.String()} {
		if strings.Contains(text, "s3cr3t") {
			t.Errorf("the secret is in the %s:\n%s", name, text)
		}
	}
	for _, want := range []string{`line=key:${TOKEN};`, `line="token ${TOKEN}"`, "part=test"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("%s is not in the log:\n%s", want, logged)
		}
	}
}
