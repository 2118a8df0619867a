package containers

import (
	"fmt"
	"os"
	"path"
	"time"
)

// Cell is one container to run.
type Cell struct {
	// Name stands in the container's labels and in messages; letters, digits and
	// dashes.
	Name string
	// Files are the files of the image, by absolute path in it. Besides them the
	// image holds /tmp (1777), /proc, /sys, /dev and /etc with passwd, group and
	// nsswitch.conf (root, nobody and a user of uid 1000).
	Files map[string]HostFile
	// Entrypoint is the command line of process 1, which has to reap; it runs as
	// root.
	Entrypoint []string
	Env        map[string]string
	// Results is the absolute path of a folder in the container, copied to the
	// folder Out of the host when the container has ended. Empty: nothing is copied.
	Results string
	Out     string
}

// HostFile is a file of the host that goes into the image.
type HostFile struct {
	Path string      // on the host
	Mode os.FileMode // in the image; 0 takes 0755
}

// Result says how a cell ended.
type Result struct {
	ExitCode int // of process 1; 128+N for a signal
	// Privilege names what the container was granted, in words for a report.
	Privilege string
	// Refused holds, for each stronger privilege, why the engine did not grant it.
	Refused []string
	Took    time.Duration // from start to end of process 1
}

func (c Cell) validate() error {
	if c.Name == "" || len(c.Entrypoint) == 0 {
		return fmt.Errorf("cell %q: a name and an entrypoint are needed", c.Name)
	}
	for name := range c.Files {
		if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
			return fmt.Errorf("cell %s: %q is no clean absolute path of a file in the image", c.Name, name)
		}
	}
	if c.Results != "" && (!path.IsAbs(c.Results) || c.Out == "") {
		return fmt.Errorf("cell %s: results need an absolute path in the container and a folder on the host; got %q and %q",
			c.Name, c.Results, c.Out)
	}
	return nil
}
