package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

// Subjects are judged in every row: what is built over go-arapuca, and what runs
// the program arapuca.
var Subjects = append(slices.Clone(upstream.Subjects), "arapuca-cli")

// Runner runs rows.
type Runner struct {
	// Engine is the program docker or podman.
	Engine string
	// Repository is the root of this repository.
	Repository string
	// Results gets one folder for each row, named after it.
	Results string
	Cache   upstream.Cache
	// Log gets what the engine prints.
	Log io.Writer
	// BuildArgs choose other bases than the Containerfile's, as RUST=my-rust.
	BuildArgs []string
}

// ErrHost says that this machine is not the one that the row is for.
var ErrHost = errors.New("this host cannot run the row")

// Run builds the row's image, judges the subjects in it, and leaves row.yaml
// beside their results. An error is that it came to no verdict.
func (r Runner) Run(ctx context.Context, row Row) (report.Row, error) {
	if err := checkHost(row, "/"); err != nil {
		return report.Row{}, err
	}
	dir, err := filepath.Abs(filepath.Join(r.Results, row.Name))
	if err != nil {
		return report.Row{}, fmt.Errorf("results of the row: %w", err)
	}
	// What an earlier run left would be taken for this one's.
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return report.Row{}, fmt.Errorf("results of the row: %w", err)
	}
	image, err := r.build(ctx, row)
	if err != nil {
		return report.Row{}, err
	}
	args := append([]string{"run", "--rm", "--privileged", "--network", "none", "--volume", dir + ":/results", image}, Subjects...)
	if err := r.engine(ctx, args...); err != nil {
		return report.Row{}, fmt.Errorf("judge the row: %w", err)
	}
	result, err := judge(row, dir)
	if err != nil {
		return report.Row{}, err
	}
	return result, report.WriteRow(dir, result)
}

func (r Runner) engine(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, r.Engine, args...)
	cmd.Stdout, cmd.Stderr = r.Log, r.Log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", r.Engine, args[0], err)
	}
	return nil
}

// build makes the image of a row and returns its name.
func (r Runner) build(ctx context.Context, row Row) (string, error) {
	dir, err := os.MkdirTemp("", "bridgecheck-row-*")
	if err != nil {
		return "", fmt.Errorf("make a folder for the image: %w", err)
	}
	defer os.RemoveAll(dir)
	for _, part := range []struct {
		project upstream.Project
		version string
	}{{upstream.Arapuca, row.Arapuca}, {upstream.GoArapuca, row.GoArapuca}} {
		s, err := upstream.Parse(part.project.FromEnv(), part.version)
		if err != nil {
			return "", err
		}
		tree, err := r.Cache.Get(ctx, s, filepath.Join(dir, "trees", part.project.Name))
		if err != nil {
			return "", err
		}
		if err := tree.CopyTo(ctx, filepath.Join(dir, "context", part.project.Name)); err != nil {
			return "", err
		}
	}
	ours := upstream.Tree{Dir: r.Repository, Repository: r.Repository}
	if err := ours.CopyTo(ctx, filepath.Join(dir, "context", "bridgecheck")); err != nil {
		return "", err
	}
	image := "bridgecheck-row:" + row.Name
	args := []string{
		"build", "--file", filepath.Join(dir, "context", "bridgecheck", "containers", "images", "arapuca", "Containerfile"),
		"--tag", image, "--build-arg", "BASE=" + row.Image,
	}
	for _, a := range r.BuildArgs {
		args = append(args, "--build-arg", a)
	}
	if err := r.engine(ctx, append(args, filepath.Join(dir, "context"))...); err != nil {
		return "", fmt.Errorf("build the row's image: %w; its output is above", err)
	}
	return image, nil
}

// checkHost looks whether the machine is what the row is for. Root is / but in
// tests.
func checkHost(row Row, root string) error {
	if row.Arch != runtime.GOARCH {
		return fmt.Errorf("%w: it is for %s, and this is %s", ErrHost, row.Arch, runtime.GOARCH)
	}
	reads := func(path, want string) bool {
		data, err := os.ReadFile(filepath.Join(root, path))
		return err == nil && strings.TrimSpace(string(data)) == want
	}
	restricted := reads("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")
	switch {
	case slices.Contains(row.Host, SELinux) && !reads("sys/fs/selinux/enforce", "1"):
		return fmt.Errorf("%w: SELinux does not enforce here; run it on Fedora, with setenforce 1", ErrHost)
	case slices.Contains(row.Host, UsernsRestricted) && !restricted:
		return fmt.Errorf("%w: AppArmor does not restrict user namespaces here; run it on Ubuntu 24.04, with sysctl -w kernel.apparmor_restrict_unprivileged_userns=1", ErrHost)
	case !slices.Contains(row.Host, UsernsRestricted) && restricted:
		return fmt.Errorf("%w: AppArmor restricts user namespaces, and the row is for a host that does not: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", ErrHost)
	}
	return nil
}
