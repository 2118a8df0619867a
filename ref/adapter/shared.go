package adapter

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"bridgecheck/ref/adapter/jsonrpc"
)

// The members that refer to a request by its id.
const (
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	methodCancelled  = "notifications/cancelled"
	methodProgress   = "notifications/progress"
)

// shared is the process that serves every stateless request. Two clients may
// use the same id at once, so each request gets a number of ours instead.
type shared struct {
	a    *Adapter
	proc Process

	mu    sync.Mutex
	last  int64
	ended string
	calls map[string]*sharedCall // by number
}

// sharedCall is one stateless request that waits for its answer.
type sharedCall struct {
	number string // what the server knows it by
	raw    []byte // the request with that number
	id     []byte // the client's id
	token  []byte // the client's progress token, nil without one
	logs   bool   // it asked for log messages
	lists  bool   // it asked for the tools
	age    int64
	stream *stream
}

// sharedProcess returns the process for stateless requests and starts it when
// there is none, or none any more.
func (a *Adapter) sharedProcess(ctx context.Context) (*shared, error) {
	a.sharedMu.Lock()
	defer a.sharedMu.Unlock()
	if a.life.Err() != nil {
		return nil, fmt.Errorf("server %q is being stopped", a.opts.Server)
	}
	if a.shared != nil && a.shared.alive() {
		return a.shared, nil
	}
	proc, err := a.opts.Start(ctx, ForStateless)
	if err != nil {
		return nil, err
	}
	sh := &shared{a: a, proc: proc, calls: map[string]*sharedCall{}}
	a.shared = sh
	a.watch(proc, sh.close)
	proc.Link().Handle(sh.fromServer)
	return sh, nil
}

func (sh *shared) alive() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.ended == ""
}

// call registers m under a number of its own. In a process that has just ended
// the answer is there at once.
func (sh *shared) call(m jsonrpc.Message) *sharedCall {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.last++
	c := &sharedCall{
		number: strconv.FormatInt(sh.last, 10), age: sh.last, id: m.ID.Of(m.Raw), stream: newStream(""),
		logs: m.Lookup("_meta", metaLogLevel).Present(), lists: m.Method == "tools/list",
	}
	token := m.Lookup("_meta", "progressToken")
	if token.Present() {
		c.token = token.Of(m.Raw)
	}
	number := []byte(c.number)
	c.raw = jsonrpc.Splice(m.Raw, jsonrpc.Edit{At: m.ID, By: number}, jsonrpc.Edit{At: token, By: number})
	sh.calls[c.number] = c
	return c
}

// answer settles a call with what make gives.
func (sh *shared) answer(number string, make func(*sharedCall) []byte, code int) {
	sh.mu.Lock()
	c := sh.calls[number]
	delete(sh.calls, number)
	sh.mu.Unlock()
	if c != nil {
		c.stream.push(event{raw: make(c), response: true, last: true, code: code})
	}
}

// abandon tells the server that nobody waits any more. Over HTTP that is how a
// stateless request is cancelled.
func (sh *shared) abandon(c *sharedCall) {
	sh.mu.Lock()
	_, waiting := sh.calls[c.number]
	delete(sh.calls, c.number)
	sh.mu.Unlock()
	if waiting {
		sh.send([]byte(`{"jsonrpc":"2.0","method":"` + methodCancelled + `","params":{"requestId":` + c.number + `}}`))
	}
}

// send is for what nobody waits for.
func (sh *shared) send(raw []byte) {
	if err := sh.proc.Link().Send(raw); err != nil {
		sh.a.opts.Log.Warn("write to the server", "cause", err)
	}
}

// close ends it once: who waits is told why, the process is stopped.
func (sh *shared) close(why string) {
	sh.mu.Lock()
	first := sh.ended == ""
	sh.ended = why
	var numbers []string
	for number := range sh.calls {
		numbers = append(numbers, number)
	}
	sh.mu.Unlock()
	for _, number := range numbers {
		sh.answer(number, func(c *sharedCall) []byte {
			return jsonrpc.NewError(c.id, codeServerGone, fmt.Sprintf("server %q: %s", sh.a.opts.Server, why), nil)
		}, codeServerGone)
	}
	if first {
		sh.proc.Stop()
	}
}
