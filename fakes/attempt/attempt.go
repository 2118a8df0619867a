// Package attempt is the wire between the suites and the probe, the program
// that stands in for an agent. The probe reads one [Attempt] a line on its
// standard input and writes one [Observation] a line on its standard output,
// each as soon as it is done, so that a check can act between two attempts. It
// reports facts (status, errno, bytes, inodes) and never a verdict. End of
// input ends it with code 0.
package attempt

// Attempt is one thing to try. Op names it; only the fields the op reads are set.
type Attempt struct {
	ID int    `json:"id"`
	Op string `json:"op"`

	// Network and Address are dialled or listened on: tcp, tcp4, tcp6, udp,
	// unix, unixgram, icmp, raw; an abstract Unix socket begins with @.
	Network string `json:"network,omitempty"`
	Address string `json:"address,omitempty"`
	// Conn names a connection that stays open between attempts.
	Conn string `json:"conn,omitempty"`
	// Data is written as it stands (JSON encodes it in base64).
	Data []byte `json:"data,omitempty"`
	// Size and Seed make the pseudo-random content of a transfer.
	Size int64  `json:"size,omitempty"`
	Seed uint64 `json:"seed,omitempty"`
	// Until ends a read: head (blank line), line, eof, or the Size in bytes.
	Until string `json:"until,omitempty"`
	// Count repeats the attempt (connections at once, processes).
	Count int `json:"count,omitempty"`
	// TimeoutMS caps the attempt; 0 means 10 000. Reaching it is an observation
	// (Errno "timeout"), not a failure of the probe.
	TimeoutMS int `json:"timeout_ms,omitempty"`

	// HTTP and MCP.
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Via is how an HTTP client goes out: direct, proxy (absolute form),
	// connect, environment (as the proxy variables say), or style:NAME (as the
	// client of that name in fakes/styles).
	Via string `json:"via,omitempty"`
	// Era is legacy (2025-11-25 and before, with sessions) or modern (2026-07-28).
	Era string `json:"era,omitempty"`
	// Transport is http (streamable), sse, unix or stdio.
	Transport string         `json:"transport,omitempty"`
	Tool      string         `json:"tool,omitempty"`
	Arguments map[string]any `json:"arguments,omitempty"`

	// Files, processes and system calls.
	Path  string   `json:"path,omitempty"`
	Args  []string `json:"args,omitempty"`
	PID   int      `json:"pid,omitempty"`
	Code  int      `json:"code,omitempty"`
	Call  string   `json:"call,omitempty"` // system call by name
	Words []uint64 `json:"words,omitempty"`
}

// Order is the first line the probe reads.
type Order struct {
	// HostNetNS is the inode of the machine's own network namespace. The probe
	// dials nothing and changes nothing while it is in it.
	HostNetNS uint64 `json:"host_netns"`
	// Nonce is echoed in every observation: the answer cannot be an old one.
	Nonce string `json:"nonce"`
}

// Observation is what came of the attempt with the same id.
type Observation struct {
	ID    int    `json:"id"`
	Nonce string `json:"nonce"`
	// Refused says that the probe itself declined, and why: an unknown op, a
	// missing field, the host's own namespace. It is an error of the harness.
	Refused string `json:"refused,omitempty"`
	// Errno is the symbolic errno (ECONNREFUSED), "timeout", "eof" or, for an
	// error without one, "other"; Error is the text. Both empty: it worked.
	Errno string `json:"errno,omitempty"`
	Error string `json:"error,omitempty"`

	Data   []byte `json:"data,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Local  string `json:"local,omitempty"`
	Remote string `json:"remote,omitempty"`

	Status  int               `json:"status,omitempty"`
	Phrase  string            `json:"phrase,omitempty"` // reason phrase
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`

	Text  string   `json:"text,omitempty"`  // result of a tool call, content of a file
	Names []string `json:"names,omitempty"` // tools, files, addresses
	Value int64    `json:"value,omitempty"` // result of a system call, pid, count
	// Errnos counts outcomes of a repeated attempt, "" being success.
	Errnos map[string]int `json:"errnos,omitempty"`
	// Lines counts the first lines that a repeated attempt read.
	Lines map[string]int `json:"lines,omitempty"`
	// Events are the methods of what an MCP server sent of its own accord, in
	// the order of arrival: requests and notifications.
	Events []string `json:"events,omitempty"`

	Facts *Facts `json:"facts,omitempty"`
}

// Facts are what the probe sees of the place it runs in.
type Facts struct {
	PID  int `json:"pid"`
	PPID int `json:"ppid"`
	UID  int `json:"uid"`
	GID  int `json:"gid"`
	// Namespaces are inode numbers by name: net, user, pid, mnt, ipc, uts, cgroup.
	Namespaces map[string]uint64 `json:"namespaces"`
	UIDMap     string            `json:"uid_map"`
	Interfaces []Interface       `json:"interfaces"`
	Routes     []Route           `json:"routes"`
	// Capability sets as hexadecimal, by name as in /proc/self/status: CapInh …
	Capabilities map[string]string `json:"capabilities"`
	NoNewPrivs   bool              `json:"no_new_privs"`
	Seccomp      int               `json:"seccomp"` // 0 off, 2 filter
	Descriptors  map[int]string    `json:"descriptors"`
	Env          []string          `json:"env"`
	Args         []string          `json:"args"`
	Cwd          string            `json:"cwd"`
	// Processes are the pids that /proc shows; nil when it shows none.
	Processes []int  `json:"processes,omitempty"`
	Session   int    `json:"session"`
	Terminal  string `json:"terminal,omitempty"` // errno of opening /dev/tty, or "open"
}

// Interface is one network interface, read by netlink, never from sysfs.
type Interface struct {
	Name      string   `json:"name"`
	Flags     []string `json:"flags"` // UP, RUNNING, LOOPBACK, …
	Addresses []string `json:"addresses"`
}

// Route is one route of any table.
type Route struct {
	Family      string `json:"family"` // inet, inet6
	Destination string `json:"destination"`
	Gateway     string `json:"gateway,omitempty"`
	Interface   string `json:"interface,omitempty"`
	Table       int    `json:"table"`
	Type        string `json:"type"` // unicast, local, broadcast, unreachable, …
}

// The ops. The comment says what is read and what is reported.
const (
	OpFacts      = "facts"       // -> Facts
	OpDial       = "dial"        // Network, Address, Conn?, Data?, Until? -> Errno, Local, Remote, Data; kept open when Conn is set
	OpListen     = "listen"      // Network, Address, Conn, Args? (reuseport; forward, then an address: relay by TCP instead of echo) -> Local; until the Conn is closed
	OpSend       = "send"        // Conn, Data or Size+Seed -> Bytes, SHA256
	OpReceive    = "receive"     // Conn, Until -> Data (up to 64 KiB), Bytes, SHA256 of all
	OpExchange   = "exchange"    // Conn, Size, Seed, Until: send and receive at the same time -> Bytes, SHA256 of what came back
	OpCloseWrite = "close-write" // Conn
	OpClose      = "close"       // Conn
	OpMany       = "many"        // Network, Address, Count, Data?, Until?: Count dials at once -> Errnos
	OpHTTP       = "http"        // Method, URL, Path? (socket), Headers, Data, Via, Conn? (kept open: receive reads the body) -> Status, Phrase, Headers, Body
	OpMCP        = "mcp"         // URL, Path (socket), Data (stdio: the command, a JSON array), Transport, Era, Via, Headers, Tool, Arguments, Args? (sampling, elicitation, roots: what is answered; progress; listen), Count? (events to wait for): initialise, list, call -> Names, Text, Headers (version and session), Events
	OpResolve    = "resolve"     // Address (name), Network (udp, tcp or empty for the system), Path (server) -> Names
	OpSocket     = "socket"      // Words: family, type, protocol -> Errno
	OpCall       = "call"        // Call, Words: one harmless system call -> Value, Errno
	OpSetLink    = "set-link"    // Address (interface), Args: down, down-ioctl, add-dummy, add-veth or add-address; undone at once -> Errno
	OpReadFile   = "read-file"   // Path -> Text, Bytes
	OpOpen       = "open"        // Path, Args: r, w or rw, create; closed at once, never written -> Errno
	OpListDir    = "list-dir"    // Path -> Names
	OpSpawn      = "spawn"       // Args: child, double-fork, setsid, hold-pipe; Count -> Value (pid); the processes sleep for ever
	OpRun        = "run"         // Path, Args, Data? (stdin) -> Text (output), Value (exit code, or 128+signal)
	OpSignal     = "signal"      // PID, Code (signal number) -> Errno
	OpIgnore     = "ignore"      // Call: a signal (SIGTERM) that the probe ignores from now on
	OpPtrace     = "ptrace"      // PID: attach -> Errno
	OpStdin      = "stdin"       // Size: the next Size raw bytes of stdin -> SHA256
	OpWrite      = "write"       // Args: stdout or stderr; Size, Seed: raw bytes -> SHA256 on a line of its own afterwards; or terminal; Data -> Errno
	OpExit       = "exit"        // Code, or Call: a signal to die of
)
