package contain

import (
	"encoding/json"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// The two descriptors the intermediate gets besides stdio.
const (
	controlFD = 3 // orders to it; its end-of-file is the order to end
	reportFD  = 4 // what became of the command
)

// order is the first line on the control pipe. The environment travels here and
// not in argv, which every user of the host can read. Bytes, not strings: JSON
// strings would change what is not UTF-8.
type order struct {
	Path []byte
	Args [][]byte
	Env  [][]byte
	Dir  []byte
}

func encodeOrder(c Command) ([]byte, error) {
	o := order{Path: []byte(c.Path), Dir: []byte(c.Dir), Args: toBytes(c.Args), Env: toBytes(c.Env)}
	line, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode command: %w", err)
	}
	return append(line, '\n'), nil
}

func (o order) argv() []string { return append([]string{string(o.Path)}, toStrings(o.Args)...) }

// The one-word orders that follow.
const (
	wordTerm = "term" // SIGTERM to every process of the tree
	wordKill = "kill" // SIGKILL to every process of the tree
)

// report is one line of the report pipe.
type report struct {
	Started bool          `json:",omitempty"`
	Stage   string        `json:",omitempty"` // contain, start: where it stopped
	Detail  string        `json:",omitempty"`
	Errno   syscall.Errno `json:",omitempty"`
	Exit    *Exit         `json:",omitempty"`
}

// The stages at which the intermediate can stop.
const (
	stageContain = "contain"
	stageStart   = "start"
)

// SignalName is the name of kill(1) with its prefix: SIGKILL.
func SignalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s))
}

func toBytes(in []string) [][]byte {
	out := make([][]byte, len(in))
	for i, s := range in {
		out[i] = []byte(s)
	}
	return out
}

func toStrings(in [][]byte) []string {
	out := make([]string, len(in))
	for i, b := range in {
		out[i] = string(b)
	}
	return out
}
