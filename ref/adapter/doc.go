// Package adapter serves one MCP server that speaks stdio as an HTTP handler:
// streamable HTTP for the sessions of 2025-11-25 and before as well as for the
// stateless requests of 2026-07-28.
//
// Messages are relayed as the bytes they are. Each session has a process of its
// own, so their ids need no change. Stateless requests have no session to tell
// them apart: they share one process, and there the id, the progress token and
// what refers to them are replaced on the way in and put back on the way out.
package adapter

import (
	"context"
	"log/slog"
	"time"

	"bridgecheck/ref/adapter/stdio"
)

// Process is one running instance of the server.
type Process interface {
	Link() *stdio.Link
	// Stop ends the process and returns when it is gone. It may be called twice.
	Stop()
	// Ended tells how the process ended, for people: "exited with code 3". It is
	// called after the link has ended and may wait a moment for the exit status.
	Ended() string
}

// Options configure an [Adapter].
type Options struct {
	// Server is the name that errors carry.
	Server string
	// Start hands out a process of the server that nobody else uses.
	Start func(ctx context.Context, use Use) (Process, error)
	// Versions are the stateless protocol versions the server has told it
	// speaks; empty for a server that wants the initialize handshake.
	Versions []string
	// AllowHost tells whether host, a name or an address without port and in
	// lower case, is one this server is reached by.
	AllowHost func(host string) bool
	// MessageBytes bounds one message of a client; 0 is
	// [stdio.DefaultMessageBytes].
	MessageBytes int
	// Sessions bounds the sessions at one time; 0 is [DefaultSessions]. Past it
	// the one that has been idle longest ends.
	Sessions int
	// Idle ends a session that has been silent for so long; 0 is [DefaultIdle].
	Idle time.Duration
	// Lifetime ends a session however busy it is; 0 is [DefaultLifetime].
	Lifetime time.Duration
	// Detached ends a session whose client has dropped a stream and not come
	// back; 0 is [DefaultDetached].
	Detached time.Duration
	// Unread bounds how long a request of the server's waits for a client that
	// has no stream open; 0 is [DefaultUnread].
	Unread time.Duration
	// Heartbeat is the pause between comments on a silent stream; 0 is
	// [DefaultHeartbeat].
	Heartbeat time.Duration
	Log       *slog.Logger
}

// Use is what a process is started for.
type Use int

// The uses of a process.
const (
	ForSession   Use = iota + 1 // one client, with the initialize handshake
	ForStateless                // every stateless request
)

// The defaults of [Options].
const (
	DefaultSessions  = 32
	DefaultIdle      = time.Hour
	DefaultLifetime  = 24 * time.Hour
	DefaultDetached  = 10 * time.Second
	DefaultUnread    = 30 * time.Second
	DefaultHeartbeat = 15 * time.Second
)

func (o Options) withDefaults() Options {
	set(&o.MessageBytes, stdio.DefaultMessageBytes)
	set(&o.Sessions, DefaultSessions)
	set(&o.Idle, DefaultIdle)
	set(&o.Lifetime, DefaultLifetime)
	set(&o.Detached, DefaultDetached)
	set(&o.Unread, DefaultUnread)
	set(&o.Heartbeat, DefaultHeartbeat)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func set[T int | time.Duration](v *T, to T) {
	if *v <= 0 {
		*v = to
	}
}
