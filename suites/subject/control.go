package subject

// Command is one line the harness writes on the control stream.
type Command struct {
	ID int `json:"id"`
	// Op is start, stop or health (of Name), stop-all or quit.
	Op        string `json:"op"`
	Name      string `json:"name,omitempty"`
	TimeoutMS int    `json:"timeout_ms,omitempty"`
}

// Reply answers the command of the same id. Lines without an id are events.
type Reply struct {
	ID int  `json:"id"`
	OK bool `json:"ok"`
	// Reason is already-running, unknown-server, not-running, timeout, dead,
	// start-failed, bad-command or stop-failed; empty when OK.
	Reason string `json:"reason,omitempty"`
	// Detail is a sentence for people.
	Detail string `json:"detail,omitempty"`
	How    string `json:"how,omitempty"` // stop: eof, term, kill
	TookMS int64  `json:"took_ms,omitempty"`
	// Results are the replies for each server, of stop-all.
	Results []ServerResult `json:"results,omitempty"`
}

// ServerResult is one server's part of a stop-all.
type ServerResult struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
	How    string `json:"how,omitempty"`
}
