package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// daemon is a connection to one engine.
type daemon struct {
	provider *testcontainers.DockerProvider
	api      client.APIClient
}

// quiet drops the progress lines of testcontainers-go: a cell's output is the
// output of its processes.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// prepare sets, once, what testcontainers-go reads from the environment at its
// first call and keeps for the life of the process.
var prepare = sync.OnceFunc(func() {
	tclog.SetDefault(quiet{})
	// Its reaper is an image of a registry. Cells end with Run, and Sweep removes
	// what a crash left.
	setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	setenv("TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX", "")
})

// setenv cannot fail for a constant name without NUL or "=".
func setenv(name, value string) {
	if err := os.Setenv(name, value); err != nil {
		panic(fmt.Sprintf("set %s: %v", name, err))
	}
}

// connect opens a connection to the engine. testcontainers-go knows one engine a
// process: a second one is refused.
func connect(engine Engine) (*daemon, error) {
	prepare()
	if err := os.Setenv("DOCKER_HOST", engine.Host); err != nil {
		return nil, fmt.Errorf("set DOCKER_HOST to %q: %w", engine.Host, err)
	}
	// testcontainers-go makes a bridge network when its default one is missing, as
	// with an engine that has no bridge. Cells use none, so name one that is there.
	network := "none"
	if engine.Name == "podman" {
		network = testcontainers.Podman
	}
	provider, err := testcontainers.NewDockerProvider(testcontainers.WithDefaultBridgeNetwork(network),
		testcontainers.Generic2DockerOptions(testcontainers.WithLogger(quiet{}))[0])
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", engine, err)
	}
	api := provider.Client()
	if used := api.DaemonHost(); used != engine.Host {
		return nil, errors.Join(
			fmt.Errorf("connect to %s: testcontainers-go uses %s; check ~/.testcontainers.properties, and use one engine a process", engine, used),
			provider.Close())
	}
	return &daemon{provider: provider, api: api}, nil
}

func (d *daemon) close() error {
	if err := d.provider.Close(); err != nil {
		return fmt.Errorf("close the connection to the engine: %w", err)
	}
	return nil
}

// removeImages removes the images with the given value of our owner label: the
// tagged one first, then what the build left below it, which podman keeps.
func (d *daemon) removeImages(ctx context.Context, owner string) (removed int, err error) {
	var errs []error
	for _, all := range []bool{false, true} {
		images, err := d.api.ImageList(ctx, client.ImageListOptions{
			All: all, Filters: make(client.Filters).Add("label", labelOwner+"="+owner),
		})
		if err != nil {
			return removed, errors.Join(append(errs, fmt.Errorf("list images: %w", err))...)
		}
		for _, image := range images.Items {
			_, err := d.api.ImageRemove(ctx, image.ID, client.ImageRemoveOptions{Force: true, PruneChildren: true})
			switch {
			case err == nil:
				removed++
			case !errdefs.IsNotFound(err):
				errs = append(errs, fmt.Errorf("remove image %s: %w", image.ID, err))
			}
		}
	}
	return removed, errors.Join(errs...)
}
