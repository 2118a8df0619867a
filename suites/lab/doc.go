// Package lab makes the hermetic place that checks run in: a network, mount,
// PID, IPC and UTS namespace with no way out. Its loopback interface answers for
// the documentation ranges, which stand for public addresses, and for every
// special-use range; /etc/resolv.conf and /etc/hosts are its own; programs and
// results are bound below [Root], so that no path of the machine is needed.
//
// The same lab is made in a container by root and, where there is no container
// engine, in a user namespace of its own. The first process of the lab ([Init])
// prepares it, drops to the cell's user and reaps what the checks leave.
package lab

// Root is where the lab keeps its own files: bin, work and out. The folder
// exists on every Linux (FHS 3.0, 3.12) and is covered by a tmpfs.
const Root = "/mnt"

// Order is what the first process of a lab is told, as JSON on descriptor 3.
type Order struct {
	// Programs, and folders of them, are bound at Root/bin/NAME.
	Programs map[string]string `json:"programs"`
	// Out is the folder for results, bound at Root/out.
	Out string `json:"out"`
	// UID and GID run the checks; 0 keeps root.
	UID int `json:"uid"`
	GID int `json:"gid"`
	// Args is the command to run, its program a path inside the lab.
	Args []string `json:"args"`
	// Env is its whole environment.
	Env []string `json:"env"`
}
