package containers

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/testcontainers/testcontainers-go"
)

const (
	imageRepo = "bridgecheck-cell"
	rootTar   = "root.tar"
)

// The accounts of the image. Uid 1000 is the user the checks run as.
const (
	passwd = "root:x:0:0:root:/root:/bin/sh\n" +
		"user:x:1000:1000:user:/tmp:/bin/sh\n" +
		"nobody:x:65534:65534:nobody:/:/bin/false\n"
	group     = "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"
	nsswitch  = "passwd: files\ngroup: files\nhosts: files dns\n"
	emptyFile = ""
)

// build makes the image of the cell and returns its tag.
func (d *daemon) build(ctx context.Context, cell Cell, owner string) (string, error) {
	archive, err := buildContext(cell.Files, map[string]string{labelCell: cell.Name, labelOwner: owner})
	if err != nil {
		return "", fmt.Errorf("cell %s: make the build context: %w", cell.Name, err)
	}
	var log bytes.Buffer
	request := &testcontainers.ContainerRequest{FromDockerfile: testcontainers.FromDockerfile{
		ContextArchive: archive,
		Repo:           imageRepo,
		BuildLogWriter: &log,
		KeepImage:      true, // Run removes it; what the library adds would cost a step for each label
	}}
	tag, err := d.provider.BuildImage(ctx, request)
	if err != nil {
		return "", fmt.Errorf("cell %s: build the image: %w; the engine said: %s", cell.Name, err, strings.TrimSpace(log.String()))
	}
	return tag, nil
}

// dockerfile has two steps. LABEL is the first, so that whatever a crash leaves of
// a build is labelled; ADD unpacks the archive as it is, with the modes of its
// folders.
func dockerfile(labels map[string]string) string {
	var text strings.Builder
	text.WriteString("FROM scratch\nLABEL")
	for name, value := range labels {
		fmt.Fprintf(&text, " %s=%q", name, value)
	}
	fmt.Fprintf(&text, "\nADD %s /\n", rootTar)
	return text.String()
}

// buildContext returns the tar archive an engine builds the image from: the
// Dockerfile and the root file system as an archive of its own.
func buildContext(files map[string]HostFile, labels map[string]string) (io.ReadSeeker, error) {
	root, err := rootFS(files)
	if err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	if err := addFile(archive, "Dockerfile", 0o644, []byte(dockerfile(labels))); err != nil {
		return nil, err
	}
	if err := addFile(archive, rootTar, 0o644, root); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("close the archive: %w", err)
	}
	return bytes.NewReader(buffer.Bytes()), nil
}

// rootFS returns the root file system of the image as a tar archive: folders
// before what they hold, everything owned by root.
func rootFS(files map[string]HostFile) ([]byte, error) {
	folders := map[string]int64{"tmp": 0o1777, "proc": 0o555, "sys": 0o555, "dev": 0o755, "etc": 0o755, "root": 0o700}
	for name := range files {
		for dir := path.Dir(name[1:]); dir != "."; dir = path.Dir(dir) {
			if _, known := folders[dir]; !known {
				folders[dir] = 0o755
			}
		}
	}
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: folders[dir]}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("add %s: %w", dir, err)
		}
	}
	texts := map[string]string{
		"etc/passwd": passwd, "etc/group": group, "etc/nsswitch.conf": nsswitch,
		"etc/resolv.conf": emptyFile, "etc/hosts": emptyFile,
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if _, given := files["/"+name]; given {
			continue
		}
		if err := addFile(archive, name, 0o644, []byte(texts[name])); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(files[name].Path)
		if err != nil {
			return nil, fmt.Errorf("read the file for %s: %w", name, err)
		}
		mode := files[name].Mode.Perm()
		if mode == 0 {
			mode = 0o755
		}
		if err := addFile(archive, name[1:], int64(mode), content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("close the archive: %w", err)
	}
	return buffer.Bytes(), nil
}

func addFile(archive *tar.Writer, name string, mode int64, content []byte) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}
	if err := archive.WriteHeader(header); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	if _, err := archive.Write(content); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}
