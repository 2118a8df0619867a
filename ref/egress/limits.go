package egress

import (
	"syscall"
	"time"
)

// Limits bound what clients can hold. A zero field means its default. Past
// each limit the client gets a readable refusal.
type Limits struct {
	// Connections is how many clients are served at a time; past it 503.
	// Default 1024, or what the descriptor limit leaves (two each).
	Connections int
	// HeadBytes is the largest request head in bytes, also an upstream's
	// response head. Past it 431, or 414 within the request line. Default 64 KiB.
	HeadBytes int
	// HeadFields is the most field lines of a head; past it 431. Default 128.
	HeadFields int
	// HeadTimeout is the time for a whole head, and for a ClientHello when
	// names are checked; past it 408. Default 10 s.
	HeadTimeout time.Duration
	// IdleTimeout ends a tunnel in which no byte moved in either direction, a
	// connection without a request, and a peer that takes no bytes. A handler
	// that has nothing to say is not idle. Default 10 min.
	IdleTimeout time.Duration
	// ConnectTimeout is for the lookup and the dial together; past it 504.
	// Default 10 s.
	ConnectTimeout time.Duration
}

// reservedDescriptors are left for listeners, lookups and the rest of the
// process when the descriptor limit bounds the connections.
const reservedDescriptors = 32

func (l Limits) withDefaults() Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	after := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&l.Connections, 1024)
	def(&l.HeadBytes, 64<<10)
	def(&l.HeadFields, 128)
	after(&l.HeadTimeout, 10*time.Second)
	after(&l.IdleTimeout, 10*time.Minute)
	after(&l.ConnectTimeout, 10*time.Second)
	return l
}

// descriptorsAllow is how many connections the descriptor limit leaves room
// for. The Go runtime has raised the soft limit to the hard one by now.
func descriptorsAllow() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || r.Cur > 1<<20 {
		return 1 << 19
	}
	return max(1, (int(r.Cur)-reservedDescriptors)/2)
}
