package external

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// witnessRole is the first argument of the bridge's program in the agent's place.
const witnessRole = "bridge-witness"

// marker lies in the root of a native sandbox, where no rule of Landlock names it:
// that root may be listed.
const marker = "/.sandbox"

// scene is what a witness is to look at; an empty entry is left out.
type scene struct {
	Host     string `json:"host"`     // an address on which the bridge listens, on the host's loopback
	Proxy    string `json:"proxy"`    // the address that leads to the proxy
	Say      string `json:"say"`      // what to say there
	Declared string `json:"declared"` // a file that may be written
	Hidden   string `json:"hidden"`   // one in the same directory that may not
}

// facts are what it saw. Attempts give "" for success, else the errno's name.
type facts struct {
	PID          int               `json:"pid"`
	UID          int               `json:"uid"`
	Namespaces   map[string]uint64 `json:"namespaces"` // inodes, by their names in /proc/self/ns
	NoNewPrivs   bool              `json:"no_new_privs"`
	Seccomp      int               `json:"seccomp"` // the mode, 2 is a filter
	Filters      int               `json:"filters"` // -1 unknown
	Capabilities bool              `json:"capabilities"`
	INET         string            `json:"inet"` // a socket of the internet
	Host         string            `json:"host"`
	Proxy        string            `json:"proxy"`
	Answer       string            `json:"answer"` // what the proxy said
	Root         string            `json:"root"`   // reading the directory /, which is never declared
	Marker       string            `json:"marker"` // the native sandbox's own canary
	Declared     string            `json:"declared"`
	Hidden       string            `json:"hidden"`
}

// Witness takes over when this program was launched as one, in the place of an
// agent, and does not return then.
func Witness() {
	if len(os.Args) != 3 || os.Args[1] != witnessRole {
		return
	}
	var s scene
	err := json.Unmarshal([]byte(os.Args[2]), &s)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(s.witness())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (s scene) witness() facts {
	f := observe()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	f.INET = name(err)
	if err == nil {
		unix.Close(fd)
	}
	if s.Host != "" {
		_, f.Host = converse(s.Host, "")
	}
	if s.Proxy != "" {
		f.Answer, f.Proxy = converse(s.Proxy, s.Say)
	}
	f.Root, f.Marker = open("/", os.O_RDONLY), open(marker, os.O_RDONLY)
	if s.Declared != "" {
		f.Declared = open(s.Declared, os.O_WRONLY)
	}
	if s.Hidden != "" {
		f.Hidden = open(s.Hidden, os.O_WRONLY)
	}
	return f
}

// observe is what a process can tell of itself, here or there.
func observe() facts {
	f := facts{PID: os.Getpid(), UID: os.Getuid(), Namespaces: map[string]uint64{}, Filters: -1}
	for _, ns := range []string{"user", "net", "pid", "mnt", "ipc", "uts"} {
		var st unix.Stat_t
		if unix.Stat("/proc/self/ns/"+ns, &st) == nil {
			f.Namespaces[ns] = st.Ino
		}
	}
	if on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err == nil {
		f.NoNewPrivs = on == 1
	}
	if mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err == nil {
		f.Seccomp = mode
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err == nil {
		for _, d := range data {
			f.Capabilities = f.Capabilities || d.Effective|d.Permitted|d.Inheritable != 0
		}
	} else {
		f.Capabilities = true // not known to be none
	}
	// What stays in the bounding set can be gained again by an exec.
	for c := uintptr(0); ; c++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			break // beyond the last one
		}
		f.Capabilities = f.Capabilities || held == 1
	}
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "\nSeccomp_filters:"); ok {
			_, _ = fmt.Sscan(rest, &f.Filters)
		}
	}
	return f
}

// converse connects, says something and gives the first line of the answer.
func converse(address, say string) (answer, failure string) {
	const patience = 5 * time.Second
	conn, err := net.DialTimeout("tcp4", address, patience)
	if err != nil {
		return "", name(err)
	}
	defer conn.Close()
	if say == "" {
		return "", ""
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, say); err != nil {
		return "", name(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", name(err)
	}
	return strings.TrimSpace(line), ""
}

func open(path string, flags int) string {
	f, err := os.OpenFile(path, flags, 0)
	if err == nil {
		_ = f.Close() // nothing was written
	}
	return name(err)
}

// name is that of the errno in an error.
func name(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "ETIMEDOUT"
	case errors.Is(err, io.EOF):
		return "EOF"
	}
	return err.Error()
}
