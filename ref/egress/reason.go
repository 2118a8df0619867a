package egress

import "net/http"

// Reason says in one stable word why a request was not handed on.
type Reason string

// The reasons. Where RFC 9209 section 2.3 has a name for it, it is that name.
const (
	ReasonRefused       Reason = "refused"                   // no rule allows it
	ReasonDenied        Reason = "denied"                    // a deny rule matches
	ReasonProhibited    Reason = "destination_ip_prohibited" // special-use addresses only
	ReasonSNIMismatch   Reason = "sni_mismatch"              // the TLS name is not the CONNECT host
	ReasonUnknownRoute  Reason = "unknown_route"             // no path route
	ReasonMalformed     Reason = "malformed"                 // grammar, framing
	ReasonUnsupported   Reason = "unsupported"               // version, transfer coding, expectation
	ReasonHeadTooLarge  Reason = "head_too_large"
	ReasonHeadTimeout   Reason = "head_timeout"
	ReasonConnections   Reason = "connection_limit_reached"
	ReasonDescriptors   Reason = "out_of_descriptors"
	ReasonDNSError      Reason = "dns_error"
	ReasonDNSTimeout    Reason = "dns_timeout"
	ReasonConnRefused   Reason = "connection_refused"
	ReasonConnTimeout   Reason = "connection_timeout"
	ReasonUnroutable    Reason = "destination_ip_unroutable"
	ReasonTerminated    Reason = "connection_terminated" // the upstream ended before its answer
	ReasonProtocolError Reason = "http_protocol_error"   // the upstream's answer cannot be read
	ReasonIdle          Reason = "idle_timeout"
	ReasonClientGone    Reason = "client_gone" // the client left before the answer
)

// answers maps a reason to its status and to the error type of Proxy-Status.
// Malformed, unsupported and too large heads carry a status of their own.
var answers = map[Reason]struct {
	status int
	error  string
}{
	ReasonRefused:       {http.StatusForbidden, "http_request_denied"},
	ReasonDenied:        {http.StatusForbidden, "http_request_denied"},
	ReasonProhibited:    {http.StatusForbidden, "destination_ip_prohibited"},
	ReasonUnknownRoute:  {http.StatusNotFound, "http_request_error"},
	ReasonMalformed:     {http.StatusBadRequest, "http_request_error"},
	ReasonUnsupported:   {http.StatusNotImplemented, "http_request_error"},
	ReasonHeadTooLarge:  {http.StatusRequestHeaderFieldsTooLarge, "http_request_error"},
	ReasonHeadTimeout:   {http.StatusRequestTimeout, "http_request_error"},
	ReasonConnections:   {http.StatusServiceUnavailable, "connection_limit_reached"},
	ReasonDescriptors:   {http.StatusServiceUnavailable, "proxy_internal_error"},
	ReasonDNSError:      {http.StatusBadGateway, "dns_error"},
	ReasonDNSTimeout:    {http.StatusGatewayTimeout, "dns_timeout"},
	ReasonConnRefused:   {http.StatusBadGateway, "connection_refused"},
	ReasonConnTimeout:   {http.StatusGatewayTimeout, "connection_timeout"},
	ReasonUnroutable:    {http.StatusBadGateway, "destination_ip_unroutable"},
	ReasonTerminated:    {http.StatusBadGateway, "connection_terminated"},
	ReasonProtocolError: {http.StatusBadGateway, "http_protocol_error"},
	ReasonClientGone:    {http.StatusBadGateway, "connection_terminated"},
	ReasonIdle:          {http.StatusGatewayTimeout, "http_response_timeout"},
}

// byPolicy tells a refusal that RefuseStatus applies to.
func (r Reason) byPolicy() bool {
	return r == ReasonRefused || r == ReasonDenied || r == ReasonProhibited
}
