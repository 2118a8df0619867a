// Package wire is what the launcher and the init process of a sandbox say to
// each other: one configuration over a sealed memory file, then messages over a
// SOCK_SEQPACKET pair. End of file on the pair ends the sandbox.
package wire

// Program names under which a process is a sandbox's init, the step before its
// agent, and a process that ends at once.
const (
	Arg0        = "bridge-init"
	Arg0Step    = "bridge-step"
	Arg0Nothing = "bridge-nothing"
)

// Levels of containment.
const (
	Isolated   = "isolated"      // all namespaces
	SharedUser = "shared/userns" // all but the network namespace
	SharedNone = "shared/none"   // no namespace at all
)

// Config is everything the init process needs.
type Config struct {
	Level       string
	Control     int // descriptor of the message pair
	Path        string
	Args        []string
	Env         []string
	Cwd         string
	Descriptors []int
	Ports       []uint16
	Mounts      []Mount
	Links       []Link
	Landlock    bool
	Seccomp     string // baseline, strict, off
	Limits      Limits
	TTY         bool
	OnTerminal  []int // standard streams that are the terminal's
	Terminal    int   `json:"-"` // the init's own descriptor of it
	// Outside holds the launcher's namespaces (inode by name): each one the
	// level promises must differ.
	Outside map[string]uint64
}

// Stepped tells whether the agent needs what can only be done by its own process.
func (c *Config) Stepped() bool { return c.TTY || c.Limits.Any() }

// Mount shows one path of the host, which holds no symbolic link.
type Mount struct {
	Path    string // inside
	Source  string // of the host; the same but for sockets
	Dir     bool
	Write   bool
	Connect bool // to the sockets in it, also where it is read-only
}

// Link is a symbolic link of the new root, for a declared path that led
// through one on the host.
type Link struct{ Path, Target string }

// Limits are as sandbox.Limits.
type Limits struct {
	Memory int64
	PIDs   int
	Files  int
}

// Any tells whether a limit is set.
func (l Limits) Any() bool { return l != Limits{} }

// Order is a message to the init process.
type Order struct {
	Go     bool `json:",omitempty"`
	Signal int  `json:",omitempty"`
}

// Report is a message from the init process; one field is set.
type Report struct {
	Listeners []Listener `json:",omitempty"` // one for each descriptor of the message
	Terminal  bool       `json:",omitempty"` // the one descriptor is the terminal's master
	Ready     *Ready     `json:",omitempty"`
	Failure   *Failure   `json:",omitempty"`
	Exit      *Exit      `json:",omitempty"`
}

// Listener describes one descriptor handed over.
type Listener struct {
	Asked uint16 // the port of the configuration, 0 for any
	Port  uint16
	V6    bool
}

// Ready says that everything is in force and was read back.
type Ready struct {
	Layers      map[string]string
	LandlockABI int // 0 when it was not asked for
}

// Failure is a step that did not work.
type Failure struct {
	Stage string
	Errno int
	Text  string
}

// Exit is how the agent ended.
type Exit struct {
	Code   int
	Signal int
}
