package adapter

import (
	"bytes"

	"bridgecheck/ref/adapter/jsonrpc"
)

// fromServer routes one message of the shared process. Every message it gives
// to a client carries the client's own id and token again.
func (sh *shared) fromServer(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Response:
		subscription := m.LookupResult("_meta", metaSubscription)
		sh.answer(string(m.ID.Of(m.Raw)), func(c *sharedCall) []byte {
			if c.lists {
				sh.a.mirrors.learn(m)
			}
			return jsonrpc.Splice(m.Raw, jsonrpc.Edit{At: m.ID, By: c.id}, jsonrpc.Edit{At: subscription, By: c.id})
		}, m.ErrorCode())
	case jsonrpc.Request:
		// In this era a server asks by an input-required result.
		sh.send(jsonrpc.NewError(m.ID.Of(m.Raw), jsonrpc.CodeMethodNotFound,
			"requests of the server are not part of "+firstStateless, nil))
	case jsonrpc.Notification:
		sh.notification(m)
	}
}

func (sh *shared) notification(m jsonrpc.Message) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	subscription := m.Lookup("_meta", metaSubscription)
	switch {
	case subscription.Present():
		if c := sh.calls[string(subscription.Of(m.Raw))]; c != nil {
			c.stream.push(event{raw: jsonrpc.Splice(m.Raw, jsonrpc.Edit{At: subscription, By: c.id})})
		}
	case m.Method == methodProgress:
		token := m.Lookup("progressToken")
		if c := sh.calls[string(token.Of(m.Raw))]; c != nil && c.token != nil {
			c.stream.push(event{raw: jsonrpc.Splice(m.Raw, jsonrpc.Edit{At: token, By: c.token})})
		}
	case m.Method == methodCancelled: // the server ends a subscription
		number := string(m.Lookup("requestId").Of(m.Raw))
		if c := sh.calls[number]; c != nil {
			delete(sh.calls, number)
			c.stream.end()
		}
	default:
		if c := sh.related(); c != nil {
			c.stream.push(event{raw: m.Raw})
		}
	}
}

// related guesses whose a log message is, which stdio does not tell: the latest
// of those that asked for log messages. A request that did not ask gets none.
func (sh *shared) related() (latest *sharedCall) {
	for _, c := range sh.calls {
		if c.logs && (latest == nil || c.age > latest.age) {
			latest = c
		}
	}
	return latest
}

// notify relays a client's notification. What refers to a request needs its
// number; where two clients use the same id nobody can tell which is meant, and
// the notification is dropped rather than given to the wrong one.
func (sh *shared) notify(m jsonrpc.Message) {
	raw := m.Raw
	if m.Method == methodCancelled {
		at := m.Lookup("requestId")
		var found *sharedCall
		sh.mu.Lock()
		for _, c := range sh.calls {
			if !bytes.Equal(c.id, at.Of(m.Raw)) {
				continue
			}
			if found != nil {
				sh.mu.Unlock()
				return
			}
			found = c
		}
		sh.mu.Unlock()
		if found == nil {
			return
		}
		raw = jsonrpc.Splice(m.Raw, jsonrpc.Edit{At: at, By: []byte(found.number)})
	}
	sh.send(raw)
}
