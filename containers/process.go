package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// process is a container that has been started.
type process struct {
	id      string
	ctr     testcontainers.Container
	api     client.APIClient
	started time.Time
	exit    client.ContainerWaitResult
	output  client.HijackedResponse
	copied  chan struct{} // closed at the end of the output
	copyErr error         // of the output; read it after copied is closed
}

// start creates the container in the given form and starts it. Nothing is left
// when it fails.
func (d *daemon) start(ctx context.Context, cell Cell, image, owner string, f form, stdout, stderr io.Writer) (p *process, err error) {
	ctr, err := d.provider.CreateContainer(ctx, testcontainers.ContainerRequest{
		Image:      image,
		Entrypoint: cell.Entrypoint,
		Env:        cell.Env,
		Labels:     map[string]string{labelCell: cell.Name, labelOwner: owner},
		HostConfigModifier: func(host *container.HostConfig) {
			host.NetworkMode = "none"
			host.Sysctls = ipv6Sysctls()
			f.apply(host)
		},
	})
	if err != nil {
		return nil, errors.Join(err, finish(ctx, (&process{ctr: ctr}).remove))
	}
	p = &process{id: ctr.GetContainerID(), ctr: ctr, api: d.api, copied: make(chan struct{})}
	if err := p.attach(ctx, stdout, stderr); err != nil {
		// podman prepares the container already here; the start says what is wrong.
		return nil, errors.Join(err, ctr.Start(ctx), finish(ctx, p.remove))
	}
	p.exit = d.api.ContainerWait(ctx, p.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	// Not cut short by the end of ctx: a container that runs has results to copy.
	if err := finish(ctx, ctr.Start); err != nil {
		return nil, errors.Join(err, finish(ctx, p.remove))
	}
	p.started = time.Now()
	return p, nil
}

// ipv6Sysctls asks for IPv6 in the container's namespace, which Docker turns off
// where there is no network. Where the kernel has no IPv6 the names do not exist,
// and naming them would stop the start.
func ipv6Sysctls() map[string]string {
	if _, err := os.Stat("/proc/sys/net/ipv6"); err != nil {
		return nil
	}
	return map[string]string{"net.ipv6.conf.all.disable_ipv6": "0", "net.ipv6.conf.lo.disable_ipv6": "0"}
}

// attach streams the output. It is done before the start: following the log
// afterwards may miss the first lines of a cell or, at a reconnect, later ones.
func (p *process) attach(ctx context.Context, stdout, stderr io.Writer) error {
	attached, err := p.api.ContainerAttach(ctx, p.id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("attach to the container: %w", err)
	}
	p.output = attached.HijackedResponse
	go func() {
		_, p.copyErr = stdcopy.StdCopy(stdout, stderr, attached.Reader)
		close(p.copied)
	}()
	return nil
}

// wait waits for the end of process 1 and of its output and returns its exit code.
// When ctx ends first the container is killed.
func (p *process) wait(ctx context.Context) (int, error) {
	code := -1
	var err error
	select {
	case response := <-p.exit.Result:
		code = int(response.StatusCode)
		if response.Error != nil {
			err = fmt.Errorf("wait for the container: %s", response.Error.Message)
		}
	case err = <-p.exit.Error:
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		err = fmt.Errorf("wait for the container: %w", err)
	case <-ctx.Done():
		err = fmt.Errorf("wait for the container: %w", ctx.Err())
	}
	if err != nil {
		return code, errors.Join(err, finish(ctx, p.kill))
	}
	return code, finish(ctx, p.drain)
}

func (p *process) kill(ctx context.Context) error {
	grace := time.Duration(0)
	if err := p.ctr.Stop(ctx, &grace); err != nil {
		return fmt.Errorf("kill the container: %w", err)
	}
	return p.drain(ctx)
}

// drain waits for the last byte of the output, which may come after the end.
func (p *process) drain(ctx context.Context) error {
	select {
	case <-p.copied:
		if p.copyErr != nil {
			return fmt.Errorf("copy the output: %w", p.copyErr)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("copy the output: %w", ctx.Err())
	}
}

// remove ends and removes the container.
func (p *process) remove(ctx context.Context) error {
	if p.ctr == nil {
		return nil
	}
	err := p.ctr.Terminate(ctx, testcontainers.StopTimeout(0))
	if err != nil {
		err = fmt.Errorf("remove the container: %w", err)
	}
	if p.output.Conn != nil {
		p.output.Close()
		<-p.copied
	}
	return err
}
