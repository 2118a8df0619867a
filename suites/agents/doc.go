// Package agents checks what real clients need to find their way out of the
// sandbox (area AGT): the environment, and every style of HTTP client there is.
package agents
