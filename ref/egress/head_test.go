package egress

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// checkHead holds that the scanner finds the same end however the bytes come,
// that it and the parser agree on what is a head, that net/http, which reads the
// body, sees the same request as the parser, and that it would write the same
// path and query.
func checkHead(t *testing.T, in []byte) {
	whole := scanner{bytes: 4096, fields: 16}
	end, bad := whole.next(in)
	parts := scanner{bytes: 4096, fields: 16}
	var end2 int
	var bad2 *badRequest
	for i := 1; i <= len(in) && end2 == 0 && bad2 == nil; i++ {
		end2, bad2 = parts.next(in[:i])
	}
	if end != end2 || (bad == nil) != (bad2 == nil) {
		t.Fatalf("%q: in one piece %d, %v; byte by byte %d, %v", in, end, bad, end2, bad2)
	}
	if bad != nil || end == 0 {
		return
	}
	raw := in[whole.skipped:end]
	h, bad := parseHead(raw)
	if bad != nil {
		if h != nil && bad.status < 400 {
			t.Fatalf("%q: %v", in, bad)
		}
		return
	}
	if h.form != originForm {
		checkCanonical(t, h.authority)
	}
	if h.form == authorityForm {
		return // not read by net/http
	}
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(in[whole.skipped:])))
	if err != nil {
		return // refused later
	}
	if req.Method != h.method || (req.ContentLength != 0) != h.body || req.ProtoAtLeast(1, 1) == h.http10 {
		t.Fatalf("%q: net/http reads %s %d %s, we %+v", in, req.Method, req.ContentLength, req.Proto, h)
	}
	if len(req.TransferEncoding) > 1 || len(req.TransferEncoding) == 1 && req.TransferEncoding[0] != "chunked" {
		t.Fatalf("%q: coding %v", in, req.TransferEncoding)
	}
	if h.form == absoluteForm {
		if got := strings.ToLower(req.URL.Hostname()); strings.TrimSuffix(got, ".") != h.authority.Host() && !h.authority.Addr.IsValid() {
			t.Fatalf("%q: net/http reads host %q, we %v", in, got, h.authority)
		}
		if got := upstreamURL(h).RequestURI(); got != h.path {
			t.Fatalf("%q: the upstream would get the target %q", in, got)
		}
	}
}
