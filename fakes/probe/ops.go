package probe

import (
	"context"

	"bridgecheck/fakes/attempt"
)

// ops are all the attempts there are; what is not here is refused.
var ops = map[string]func(*Probe, context.Context, attempt.Attempt) attempt.Observation{
	attempt.OpFacts:      (*Probe).facts,
	attempt.OpDial:       (*Probe).dial,
	attempt.OpListen:     (*Probe).listen,
	attempt.OpSend:       (*Probe).send,
	attempt.OpReceive:    (*Probe).receive,
	attempt.OpExchange:   (*Probe).exchange,
	attempt.OpCloseWrite: (*Probe).closeWrite,
	attempt.OpClose:      (*Probe).close,
	attempt.OpMany:       (*Probe).many,
	attempt.OpHTTP:       (*Probe).http,
	attempt.OpMCP:        (*Probe).mcp,
	attempt.OpResolve:    (*Probe).resolve,
	attempt.OpSocket:     (*Probe).socket,
	attempt.OpCall:       (*Probe).call,
	attempt.OpSetLink:    (*Probe).setLink,
	attempt.OpReadFile:   (*Probe).readFile,
	attempt.OpOpen:       (*Probe).open,
	attempt.OpListDir:    (*Probe).listDir,
	attempt.OpSpawn:      (*Probe).spawn,
	attempt.OpRun:        (*Probe).run,
	attempt.OpSignal:     (*Probe).signal,
	attempt.OpIgnore:     (*Probe).ignore,
	attempt.OpPtrace:     (*Probe).ptrace,
	attempt.OpStdin:      (*Probe).stdin,
	attempt.OpWrite:      (*Probe).write,
	attempt.OpExit:       (*Probe).leave,
}
