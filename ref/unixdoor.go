package ref

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"bridgecheck/ref/config"
	"bridgecheck/ref/sandbox"
)

// unixDoor is a server's socket of mode 0600, alone in a directory of mode 0700
// that the sandbox shows read-only: connect(2) needs no more, and the agent can
// put nothing in the socket's place.
type unixDoor struct {
	shown    sandbox.Sockets
	path     string // in the sandbox
	listener net.Listener
	// program carries stdio to the socket, for an agent that asks for it.
	program string
}

// Where the sockets are in the sandbox: nothing of the host's runtime directory
// is told by it.
const (
	socketsAt  = "/mcp"
	socketName = "mcp"
)

// openUnix opens the socket where the plan has one and the agent asks for it.
func (p *phase) openUnix(d *door) error {
	a := p.spec.Agent
	lines := slices.Contains(a.Transports, config.Stdio) && slices.Contains(d.server.Offered(), config.Stdio)
	if !p.plan.Unix || !lines && !slices.Contains(a.Transports, config.Unix) {
		return nil
	}
	// No server has a name that begins so, nor has its own socket.
	dir := filepath.Join(p.dir, "_"+d.server.Name)
	path := filepath.Join(dir, socketName)
	u := &unixDoor{shown: sandbox.Sockets{Dir: dir, At: filepath.Join(socketsAt, d.server.Name)}}
	u.path = filepath.Join(u.shown.At, socketName)
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700) // whatever the umask took away
	}
	if err == nil {
		u.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	}
	if err != nil {
		return fmt.Errorf("open the Unix socket for server %s: %w", d.server.Name, err)
	}
	p.later(func() error {
		_ = u.listener.Close() // its HTTP server may have closed it
		return nil
	})
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("restrict the socket of server %s: %w", d.server.Name, err)
	}
	if lines {
		if u.program, err = os.Executable(); err != nil {
			return fmt.Errorf("find the program that carries stdio: %w", err)
		}
	}
	d.unix = u
	return nil
}

// command is the program with its arguments, as a JSON array: the form in which
// agents take the command of a stdio server.
func (u *unixDoor) command(server string) string {
	text, err := json.Marshal([]string{u.program, "stdio", "--socket", u.path, server})
	if err != nil {
		panic(err) // strings can always be written
	}
	return string(text)
}

// sockets are the directories of the sockets, programs what carries stdio to them.
func (p *phase) sockets() (dirs []sandbox.Sockets, programs []string) {
	for _, d := range p.doors {
		if d.unix == nil {
			continue
		}
		dirs = append(dirs, d.unix.shown)
		if d.unix.program != "" && !slices.Contains(programs, d.unix.program) {
			programs = append(programs, d.unix.program)
		}
	}
	return dirs, programs
}
