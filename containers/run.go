package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// finishTimeout bounds what goes on when ctx is done: the start of a container,
// and what follows its end.
const finishTimeout = 60 * time.Second

// Run builds the image of the cell, runs it on the engine in the strongest form of
// privilege the engine grants, writes what process 1 and its children print to
// stdout and stderr as it comes, and copies the results when the container has
// ended. A non-zero exit code of the cell is a result, not an error.
//
// The container, its image and leftovers of crashed runs are removed before Run
// returns, however it ends. When ctx ends first the container is killed, the
// results written so far are copied, and the error wraps ctx's.
//
// Run sets DOCKER_HOST and variables of testcontainers-go in the environment of
// this process, and serves one engine a process.
func Run(ctx context.Context, engine Engine, cell Cell, stdout, stderr io.Writer) (result Result, err error) {
	if err := cell.validate(); err != nil {
		return Result{}, err
	}
	d, err := connect(engine)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if _, err := d.sweep(ctx); err != nil {
		fmt.Fprintf(stderr, "cell %s: leftovers of earlier runs stay: %v\n", cell.Name, err)
	}
	owner := newOwner()
	defer func() {
		err = errors.Join(err, finish(ctx, func(ctx context.Context) error {
			_, err := d.removeImages(ctx, owner)
			return err
		}))
	}()
	image, err := d.build(ctx, cell, owner)
	if err != nil {
		return Result{}, err
	}

	p, privilege, refused, err := strongest(ctx, forms(ownMissingCapabilities()), func(f form) (*process, error) {
		return d.start(ctx, cell, image, owner, f, stdout, stderr)
	})
	if err != nil {
		return Result{Refused: refused}, fmt.Errorf("cell %s: %w", cell.Name, err)
	}
	defer func() { err = errors.Join(err, finish(ctx, p.remove)) }()
	result = Result{Privilege: privilege, Refused: refused}
	result.ExitCode, err = p.wait(ctx)
	result.Took = time.Since(p.started)
	if err != nil {
		err = fmt.Errorf("cell %s: %w", cell.Name, err)
	}
	return result, errors.Join(err, finish(ctx, func(ctx context.Context) error {
		return d.copyResults(ctx, p.id, cell, stderr)
	}))
}

// finish runs do to its end, also when ctx ends, but no longer than finishTimeout.
func finish(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return do(ctx)
}
