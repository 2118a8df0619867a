package egress

import "net/netip"

// Decision is one judgement: what was asked, what became of it, and why. A
// refusal is a decision, not an error.
type Decision struct {
	// Authority is the target; the zero value when none could be read.
	Authority Authority
	// Asked is what the client named when there is no authority: the path of a
	// route, or the text that could not be read (quoted, cut).
	Asked   string
	Verdict Verdict
	// Reason is empty when the verdict is Allow.
	Reason Reason
	// Rule is the rule that decided, in canonical form; empty for none.
	Rule string
	// Server names the server whose adapter was reached.
	Server string
	// Dialled is the address that was connected, the zero value for none.
	Dialled netip.AddrPort
	// Detail is a sentence on the cause, for people; it may quote the request.
	Detail string

	ranges []netip.Prefix
}

// Target is the canonical host:port, or else what was asked.
func (d Decision) Target() string {
	if s := d.Authority.String(); s != "" {
		return s
	}
	return d.Asked
}

// Verdict is what became of a request.
type Verdict uint8

const (
	// Deny is a refusal by rule, class, grammar or limit.
	Deny Verdict = iota
	// Allow means that the request was handed on.
	Allow
	// Failed means allowed, and then the network was in the way.
	Failed
)

// String is "deny", "allow" or "error".
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Failed:
		return "error"
	default:
		return "deny"
	}
}
