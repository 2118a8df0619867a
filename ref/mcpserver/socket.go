package mcpserver

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// sunPathMax is the room for a path in sockaddr_un, without the final zero
// byte; unix(7).
const sunPathMax = 107

// checkDir demands a directory that nobody else can enter or replace.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("socket directory: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("socket directory %s is a %s; give a directory", dir, info.Mode().Type())
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("socket directory %s has mode %04o; use chmod 0700", dir, info.Mode().Perm())
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("socket directory %s belongs to another user", dir)
	}
	return nil
}

func socketPath(dir, name string) (string, error) {
	path := filepath.Join(dir, name+".sock")
	if len(path) > sunPathMax {
		return "", fmt.Errorf("socket path %s has %d bytes, a socket may have %d; choose a shorter directory or name",
			path, len(path), sunPathMax)
	}
	return path, nil
}

func restrict(path string) error {
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("restrict socket: %w", err)
	}
	return nil
}
