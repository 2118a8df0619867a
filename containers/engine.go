package containers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/client"
)

// ErrNoEngine says that no Docker or podman socket answers. The error that wraps
// it lists every socket asked and its answer.
var ErrNoEngine = errors.New("no container engine answers")

// askTimeout bounds the question to one socket. An engine that is up answers in
// milliseconds; one that has just been started by socket activation may need more.
const askTimeout = 3 * time.Second

// Engine is a container engine that has answered.
type Engine struct {
	Name       string // docker or podman
	Version    string // of the engine, as in 20.10.24
	APIVersion string // the newest Docker API version it speaks, as in 1.41
	Host       string // address of its API, as in unix:///var/run/docker.sock
}

// String gives the one line reports show.
func (e Engine) String() string {
	return fmt.Sprintf("%s %s (API %s) at %s", e.Name, e.Version, e.APIVersion, e.Host)
}

// Find returns the first engine that answers: the one DOCKER_HOST names and no
// other if it is set, else the well-known sockets of Docker and podman, rootful
// before rootless. It fails with [ErrNoEngine] when none does.
func Find(ctx context.Context) (Engine, error) {
	var absent, asked []string
	for _, host := range candidates(os.Getenv, os.Getuid()) {
		if path, isUnix := strings.CutPrefix(host, "unix://"); isUnix {
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				absent = append(absent, path)
				continue
			}
		}
		engine, err := ask(ctx, host)
		if err == nil {
			return engine, nil
		}
		asked = append(asked, fmt.Sprintf("%s: %v", host, err))
	}
	if len(absent) > 0 {
		asked = append(asked, "no socket at "+strings.Join(absent, ", "))
	}
	return Engine{}, fmt.Errorf("%w; start Docker or podman, or run ci/engine.sh start as root (%s)",
		ErrNoEngine, strings.Join(asked, "; "))
}

// candidates lists the addresses to ask, in order.
func candidates(getenv func(string) string, uid int) []string {
	if host := getenv("DOCKER_HOST"); host != "" {
		return []string{host}
	}
	runtimeDir := getenv("XDG_RUNTIME_DIR")
	if runtimeDir == "" {
		runtimeDir = filepath.Join("/run/user", strconv.Itoa(uid))
	}
	hosts := []string{
		"unix:///var/run/docker.sock",
		"unix:///run/podman/podman.sock",
		"unix://" + filepath.Join(runtimeDir, "docker.sock"),
		"unix://" + filepath.Join(runtimeDir, "podman", "podman.sock"),
	}
	if home := getenv("HOME"); home != "" {
		hosts = append(hosts, "unix://"+filepath.Join(home, ".docker", "run", "docker.sock"))
	}
	return hosts
}

// ask puts the version question of the Docker API to one address.
func ask(ctx context.Context, host string) (Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	api, err := client.New(client.FromEnv, client.WithHost(host))
	if err != nil {
		return Engine{}, fmt.Errorf("make a client: %w", err)
	}
	defer api.Close()
	version, err := api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return Engine{}, fmt.Errorf("ask for the version: %w", err)
	}
	name := "docker"
	for _, component := range version.Components {
		if strings.Contains(strings.ToLower(component.Name), "podman") {
			name = "podman"
		}
	}
	return Engine{Name: name, Version: version.Version, APIVersion: version.APIVersion, Host: host}, nil
}
