package adapter

import (
	"fmt"
	"net/http"

	"bridgecheck/ref/adapter/jsonrpc"
)

// stateless serves a request of 2026-07-28 and later.
func (a *Adapter) stateless(w http.ResponseWriter, r *http.Request, batch []jsonrpc.Message) {
	m := batch[0]
	id := m.ID.Of(m.Raw)
	switch {
	case len(batch) > 1:
		refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeInvalidRequest, "batches are not part of "+firstStateless)
		return
	case m.Kind == jsonrpc.Response:
		refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeInvalidRequest, "responses are not part of "+firstStateless)
		return
	case len(a.opts.Versions) == 0:
		// No code that a newer server would use: the client falls back to
		// initialize, and need not wait for a server that ignores the request.
		refuse(w, http.StatusBadRequest, id, jsonrpc.CodeMethodNotFound, a.tooOld())
		return
	}
	rej := checkHeaders(r.Header, m, a.opts.Versions)
	if rej == nil {
		rej = a.mirrors.check(r.Header, m)
	}
	if rej != nil {
		writeJSON(w, http.StatusBadRequest, jsonrpc.NewError(id, rej.code, rej.text, rej.data))
		return
	}
	sh, err := a.sharedProcess(r.Context())
	if err != nil {
		refuse(w, http.StatusBadGateway, id, jsonrpc.CodeInternal, err.Error())
		return
	}
	if m.Kind == jsonrpc.Notification {
		sh.notify(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	c := sh.call(m)
	if err := sh.proc.Link().Send(c.raw); err != nil {
		sh.answer(c.number, func(c *sharedCall) []byte {
			return jsonrpc.NewError(c.id, codeServerGone, err.Error(), nil)
		}, codeServerGone)
	}
	p := responder{w: w, heartbeat: a.opts.Heartbeat, single: true, status: statelessStatus}
	if err := p.run(r, c.stream, c.stream.attach(-1)); err != nil {
		sh.abandon(c)
	}
}

// tooOld is what a newer client is told about an older server.
func (a *Adapter) tooOld() string {
	return fmt.Sprintf("server %q begins with initialize and does not know %s", a.opts.Server, firstStateless)
}

// statelessStatus is the HTTP status of a JSON-RPC error.
func statelessStatus(e event) int {
	switch e.code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParse, jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams,
		jsonrpc.CodeHeaderMismatch, jsonrpc.CodeMissingCapability, jsonrpc.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
