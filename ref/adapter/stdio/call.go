package stdio

import (
	"context"
	"crypto/rand"
	"fmt"

	"bridgecheck/ref/adapter/jsonrpc"
)

// Call sends a request of the bridge's own and waits for its answer, whatever
// it is. params is raw JSON; empty leaves the member out.
func (l *Link) Call(ctx context.Context, method, params string) (jsonrpc.Message, error) {
	wait, err := l.Begin(method, params)
	if err != nil {
		return jsonrpc.Message{}, err
	}
	return wait(ctx)
}

// Begin sends a request of the bridge's own; wait, which must be called once,
// waits for the answer. The id is a random string, so that it cannot be a
// client's.
func (l *Link) Begin(method, params string) (wait func(context.Context) (jsonrpc.Message, error), err error) {
	id := `"` + l.prefix + rand.Text() + `"`
	raw := `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"`
	if params != "" {
		raw += `,"params":` + params
	}
	answer := make(chan jsonrpc.Message, 1)
	key := jsonrpc.Key([]byte(id))
	l.mu.Lock()
	l.calls[key] = answer
	l.mu.Unlock()
	forget := func() {
		l.mu.Lock()
		delete(l.calls, key)
		l.mu.Unlock()
	}
	if err := l.Send([]byte(raw + "}")); err != nil {
		forget()
		return nil, err
	}
	return func(ctx context.Context) (jsonrpc.Message, error) {
		defer forget()
		select {
		case m := <-answer:
			return m, nil
		case <-l.done:
			return jsonrpc.Message{}, l.gone()
		case <-ctx.Done():
			return jsonrpc.Message{}, fmt.Errorf("server %q does not answer %s: %w", l.opts.Server, method, ctx.Err())
		}
	}, nil
}

// tooBig tells whoever waits for a message that it was too long to be relayed.
func (l *Link) tooBig(o *outline) {
	text := fmt.Sprintf("server %q sent a message of more than %d bytes", l.opts.Server, l.opts.MessageBytes)
	l.opts.Log.Warn("drop a message", "server", l.opts.Server, "cause", text)
	m, ok := o.message()
	if !ok {
		return
	}
	id := m.ID.Of(m.Raw)
	if m.Kind == jsonrpc.Request { // the server waits for an answer to what nobody will see
		if err := l.Send(jsonrpc.NewError(id, jsonrpc.CodeInvalidRequest, text, nil)); err != nil {
			l.opts.Log.Warn("answer the server", "cause", err)
		}
		return
	}
	if answer, err := jsonrpc.Parse(jsonrpc.NewError(id, jsonrpc.CodeInternal, text, nil)); err == nil {
		l.dispatch(answer)
	}
}
