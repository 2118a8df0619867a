package containers

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCandidates(t *testing.T) {
	env := func(pairs map[string]string) func(string) string {
		return func(name string) string { return pairs[name] }
	}
	if got := candidates(env(map[string]string{"DOCKER_HOST": "tcp://x:1", "HOME": "/h"}), 0); !slices.Equal(got, []string{"tcp://x:1"}) {
		t.Errorf("with DOCKER_HOST: %q; what it names must be the only one", got)
	}
	got := candidates(env(map[string]string{"HOME": "/h"}), 1000)
	want := []string{
		"unix:///var/run/docker.sock", "unix:///run/podman/podman.sock",
		"unix:///run/user/1000/docker.sock", "unix:///run/user/1000/podman/podman.sock", "unix:///h/.docker/run/docker.sock",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = candidates(env(map[string]string{"XDG_RUNTIME_DIR": "/x"}), 0)
	if !slices.Contains(got, "unix:///x/podman/podman.sock") || len(got) != 4 {
		t.Errorf("with XDG_RUNTIME_DIR and without HOME: %q", got)
	}
}

// serve answers the version question on a Unix socket with body.
func serve(t *testing.T, body string) (host string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engine.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", "1.41")
		if strings.HasSuffix(r.URL.Path, "/version") {
			_, _ = w.Write([]byte(body))
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "unix://" + path
}

func TestFind(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"docker", `{"Version":"20.10.24","ApiVersion":"1.41","Components":[{"Name":"Engine"},{"Name":"containerd"}]}`, "docker"},
		{"podman", `{"Version":"4.3.1","ApiVersion":"1.41","Components":[{"Name":"Podman Engine"}]}`, "podman"},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := serve(t, test.body)
			t.Setenv("DOCKER_HOST", host)
			engine, err := Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if engine.Name != test.want || engine.APIVersion != "1.41" || engine.Host != host || engine.Version == "" {
				t.Errorf("found %+v", engine)
			}
		})
	}
}

func TestFindNone(t *testing.T) {
	for _, test := range []struct{ name, host, want string }{
		{"no socket", "unix:///no/such/socket", "no socket at /no/such/socket"},
		{"no engine behind it", serve(t, "not an engine"), "ask for the version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", test.host)
			_, err := Find(t.Context())
			if !errors.Is(err, ErrNoEngine) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want ErrNoEngine with %q", err, test.want)
			}
		})
	}
}

func TestFindIsBounded(t *testing.T) {
	silent := filepath.Join(t.TempDir(), "silent.sock")
	listener, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	t.Setenv("DOCKER_HOST", "unix://"+silent)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Find(ctx); !errors.Is(err, ErrNoEngine) || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("got %v, want ErrNoEngine with the deadline", err)
	}
}
