package ara

// Order is what to do, one step after the other. Whatever one of them gives, the
// next is done.
type Order struct {
	Steps []Step `json:"steps"`
}

// Step is one call of the library, or a wait for the caller.
type Step struct {
	// Do is new, launch, cancel, wait, cleanup, close, netns, versions or await.
	Do string `json:"do"`
	// Box and Process are names, given by new and launch and used by the others.
	Box     string  `json:"box,omitempty"`
	Process string  `json:"process,omitempty"`
	Launch  *Launch `json:"launch,omitempty"`
	// Path is a file that await waits for.
	Path string `json:"path,omitempty"`
	// TimeoutMS ends await and wait; 0 is 20 000.
	TimeoutMS int `json:"timeout_ms,omitempty"`
}

// Launch is a command with its configuration. Strings that need not be UTF-8 are
// base64 in JSON.
type Launch struct {
	Command string            `json:"command"`
	Args    [][]byte          `json:"args,omitempty"`
	Env     map[string][]byte `json:"env,omitempty"`

	// Read are paths besides those that every program needs; Write are paths.
	Read    []string `json:"read,omitempty"`
	Write   []string `json:"write,omitempty"`
	WorkDir string   `json:"work_dir,omitempty"`
	TaskID  string   `json:"task_id,omitempty"`

	NetNS        bool   `json:"netns,omitempty"`
	PIDNS        bool   `json:"pidns,omitempty"`
	Seccomp      string `json:"seccomp,omitempty"`
	ProxySocket  string `json:"proxy_socket,omitempty"`
	AllowedHosts []Host `json:"allowed_hosts,omitempty"`
}

// Host is a rule, as it is given to the library.
type Host struct {
	Host string `json:"host"`
	Port uint16 `json:"port"`
}

// Fact is what came of one step.
type Fact struct {
	Do      string `json:"do"`
	Process string `json:"process,omitempty"`
	// Error is the library's own; empty is none.
	Error string `json:"error"`
	// Lacks says that this release has not what the step needs.
	Lacks string `json:"lacks,omitempty"`
	// Timeout says that the step did not come to its end in time.
	Timeout bool `json:"timeout,omitempty"`
	PID     int  `json:"pid,omitempty"`
	// Code is what Wait gave, beside Error.
	Code int `json:"code"`
	// Available is what NetNSAvailable said.
	Available bool              `json:"available,omitempty"`
	Versions  map[string]string `json:"versions,omitempty"`
}
