package config

// What may stand where one of several words is wanted; the first is the default.
var (
	networks     = []string{"auto", "isolated", "shared"}
	policies     = []string{"require", "prefer", "off"}
	profiles     = []string{"baseline", "strict", "off"}
	switches     = []string{"on", "off"}
	placements   = []string{"sandbox", "host"}
	containments = []string{"namespace", "process-group"}
	transports   = []string{"http", "sse"}
)
