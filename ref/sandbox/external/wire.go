package external

// About is what a backend is and which of the fields of Launch it honours. A
// field that it does not name is refused before anything starts.
type About struct {
	Name     string            `json:"name"`
	Versions map[string]string `json:"versions,omitempty"`
	// Double says that something stands in for the library: no verdict on it
	// counts as one on the library.
	Double bool `json:"double,omitempty"`
	// Fields are those of the closed list below.
	Fields []Field `json:"fields"`
	// IdleSeconds, Connections and HeadBytes are limits that it documents; 0 is
	// unknown.
	IdleSeconds int `json:"idle_seconds,omitempty"`
	Connections int `json:"connections,omitempty"`
	HeadBytes   int `json:"head_bytes,omitempty"`
}

// Field names a part of Launch.
type Field string

// The fields that a backend may lack. Path, Args, Env, Cwd, RO and RW are every
// backend's.
const (
	FieldProxySocket  Field = "proxy_socket"  // 127.0.0.1:18080 leads to a Unix socket
	FieldAllowedHosts Field = "allowed_hosts" // its own proxy, with that allowlist
	FieldOwnNetwork   Field = "own_network"
	FieldOwnPIDs      Field = "own_pids"
	FieldSeccomp      Field = "seccomp"
	FieldMemory       Field = "memory"
	FieldPIDs         Field = "pids"
	FieldFiles        Field = "files"
)

// Launch is one agent and what it may see.
type Launch struct {
	Path string   `json:"path"`
	Args []string `json:"args,omitempty"` // without the program's name
	Env  []string `json:"env,omitempty"`  // complete, KEY=value
	Cwd  string   `json:"cwd,omitempty"`
	RO   []string `json:"ro,omitempty"`
	RW   []string `json:"rw,omitempty"`

	OwnNetwork   bool          `json:"own_network,omitempty"`
	OwnPIDs      bool          `json:"own_pids,omitempty"`
	ProxySocket  string        `json:"proxy_socket,omitempty"`
	AllowedHosts []AllowedHost `json:"allowed_hosts,omitempty"`
	Seccomp      string        `json:"seccomp,omitempty"` // baseline or strict
	Memory       int64         `json:"memory,omitempty"`  // bytes
	PIDs         int           `json:"pids,omitempty"`
	Files        int           `json:"files,omitempty"`
}

// AllowedHost is one rule for a backend's own proxy: a canonical name or address,
// or "*." and a name, with a port.
type AllowedHost struct {
	Host string `json:"host"`
	Port uint16 `json:"port"`
}

// Refused is a Launch that is not honoured; Field is that of package sandbox's
// Spec, Reason holds the fix.
type Refused struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

func (r *Refused) Error() string { return r.Field + ": " + r.Reason }

// Failed is a host that does not allow it.
type Failed struct {
	Stage  string `json:"stage"`
	Errno  string `json:"errno,omitempty"` // EPERM, …
	Reason string `json:"reason"`
}

func (f *Failed) Error() string { return f.Stage + ": " + f.Reason }

// Exited is how the agent ended: by Signal when that is not 0, else with Code.
type Exited struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
}

// order and report are a line each way; one field is set.
type order struct {
	Launch *Launch `json:"launch,omitempty"`
	Signal int     `json:"signal,omitempty"`
	Kill   bool    `json:"kill,omitempty"`
}

type report struct {
	About   *About   `json:"about,omitempty"`
	Started *started `json:"started,omitempty"`
	Refused *Refused `json:"refused,omitempty"`
	Failed  *Failed  `json:"failed,omitempty"`
	Exited  *Exited  `json:"exited,omitempty"`
}

type started struct {
	PID int `json:"pid"`
}
