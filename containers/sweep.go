package containers

import (
	"context"
	"errors"
	"fmt"

	"github.com/moby/moby/client"
)

// Sweep removes the containers and images that crashed runs left on the engine:
// those with our label whose owner, a process of this machine, has ended. It
// returns how many it removed. [Run] does it by itself.
func Sweep(ctx context.Context, engine Engine) (removed int, err error) {
	d, err := connect(engine)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	return d.sweep(ctx)
}

func (d *daemon) sweep(ctx context.Context) (int, error) {
	ours := make(client.Filters).Add("label", labelOwner)
	containers, err := d.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		return 0, fmt.Errorf("list containers: %w", err)
	}
	var errs []error
	removed := 0
	for _, c := range containers.Items {
		if !gone(c.Labels[labelOwner]) {
			continue
		}
		if _, err := d.api.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			errs = append(errs, fmt.Errorf("remove container %s: %w", c.ID, err))
			continue
		}
		removed++
	}
	images, err := d.api.ImageList(ctx, client.ImageListOptions{All: true, Filters: ours})
	if err != nil {
		return removed, errors.Join(append(errs, fmt.Errorf("list images: %w", err))...)
	}
	owners := map[string]bool{}
	for _, image := range images.Items {
		owners[image.Labels[labelOwner]] = true
	}
	for owner := range owners {
		if !gone(owner) {
			continue
		}
		n, err := d.removeImages(ctx, owner)
		removed += n
		errs = append(errs, err)
	}
	return removed, errors.Join(errs...)
}
