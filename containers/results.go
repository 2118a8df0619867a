package containers

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/moby/moby/client"
)

// maxResults bounds what is copied out of one cell, in bytes.
const maxResults = 1 << 30

// copyResults copies the results folder of the ended container to the host. What
// the container wrote is not trusted: nothing is written outside the folder.
func (d *daemon) copyResults(ctx context.Context, id string, cell Cell, notes io.Writer) error {
	if cell.Results == "" {
		return nil
	}
	copied, err := d.api.CopyFromContainer(ctx, id, client.CopyFromContainerOptions{SourcePath: cell.Results})
	if err != nil {
		return fmt.Errorf("cell %s: copy %s out of the container: %w", cell.Name, cell.Results, err)
	}
	err = extract(copied.Content, path.Base(cell.Results), cell.Out, notes)
	if err = errors.Join(err, copied.Content.Close()); err != nil {
		return fmt.Errorf("cell %s: copy %s to %s: %w", cell.Name, cell.Results, cell.Out, err)
	}
	return nil
}

// extract unpacks the archive below the folder out, without the first element
// (base) of the names. Files and folders only: of anything else, as links and
// sockets, a line goes to notes. Owners are those of this process, modes 0644 and
// 0755.
func extract(archive io.Reader, base, out string, notes io.Writer) (err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	reader := tar.NewReader(io.LimitReader(archive, maxResults))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive (at most %d bytes): %w", maxResults, err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path.Clean(header.Name), base), "/")
		if name == "" {
			continue
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeReg:
			err = writeFile(root, name, reader)
		default:
			fmt.Fprintf(notes, "results: %s is neither file nor folder; left out\n", name)
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}

func writeFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
