// Package egress is an HTTP proxy with an allow list, for programs that must
// reach the hosts they were given and nothing else. It stands alone: it needs
// the standard library, golang.org/x/net and golang.org/x/sys.
//
// A request is judged by its target alone, in one canonical form ([Authority]);
// an allowed name is looked up once, and each address is checked in the dial
// itself ([Classify]), so that what was judged is what is connected. CONNECT,
// absolute form and WebSocket upgrades take the same judgement and the same
// dial. Every request of a connection is judged on its own, every judgement is
// a [Decision].
//
// Names can be given to servers of the caller ([Config].Virtual): they never go
// through DNS, and their [net/http.Handler] serves them by CONNECT and by
// absolute form.
//
// # Bad requests
//
// A request that is not right is refused, never repaired. After each of these
// answers but those to origin form the connection ends, and what the client
// still sends is read first, so that it can read the answer (RFC 9112 section
// 9.6). The error type is that of the Proxy-Status field (RFC 9209). The body is
// JSON: reason, message, host, port, the rules in force, how to allow it.
//
//	kind of request                        status  error type           source
//	CONNECT without port                   400     http_request_error   RFC 9110 section 9.3.6
//	CONNECT to port 0                      400     http_request_error   RFC 9110 section 9.3.6
//	CONNECT to port 65536                  400     http_request_error   RFC 9110 section 9.3.6
//	CONNECT to a port that is no number    400     http_request_error   RFC 3986 section 3.2.3
//	CONNECT to a signed port               400     http_request_error   RFC 3986 section 3.2.3
//	CONNECT to a port with leading zero    400     http_request_error   canonical form
//	CONNECT with userinfo                  400     http_request_error   RFC 9110 section 4.2.4
//	CONNECT with a path                    400     http_request_error   RFC 9112 section 3.2.3
//	CONNECT with a query                   400     http_request_error   RFC 9112 section 3.2.3
//	CONNECT with a scheme                  400     http_request_error   RFC 9112 section 3.2.3
//	CONNECT to an empty host               400     http_request_error   RFC 9110 section 4.2.1
//	CONNECT to a name with two dots        400     http_request_error   RFC 1034 section 3.1
//	CONNECT to a name with leading dot     400     http_request_error   RFC 1034 section 3.1
//	CONNECT to a name with underscore      400     http_request_error   RFC 1123 section 2.1
//	CONNECT to a name of over 253          400     http_request_error   RFC 1035 section 2.3.4
//	CONNECT to a percent-encoded name      400     http_request_error   RFC 1123 section 2.1
//	CONNECT to a name outside ASCII        400     http_request_error   RFC 9112 section 3.2
//	CONNECT to bare IPv6                   400     http_request_error   RFC 3986 section 3.2.2
//	CONNECT to a zone                      400     http_request_error   RFC 9844 section 6
//	CONNECT to a name in brackets          400     http_request_error   RFC 3986 section 3.2.2
//	CONNECT to an address with a dot       400     http_request_error   RFC 3986 section 3.2.2
//	CONNECT with a body                    400     http_request_error   RFC 9110 section 9.3.6
//	CONNECT with another Host              400     http_request_error   RFC 9112 section 3.2
//	authority form without CONNECT         400     http_request_error   RFC 9112 section 3.2.3
//	asterisk form                          400     http_request_error   RFC 9112 section 3.2.4
//	absolute form with https               400     http_request_error   RFC 9110 section 9.3.6
//	absolute form with userinfo            400     http_request_error   RFC 9110 section 4.2.4
//	absolute form with a fragment          400     http_request_error   RFC 9112 section 3.2.2
//	absolute form with an empty host       400     http_request_error   RFC 9110 section 4.2.1
//	absolute form with a bad escape        400     http_request_error   RFC 3986 section 2.1
//	absolute form with // and a bad path   400     http_request_error   RFC 3986 section 3.3
//	origin form without a route            404     http_request_error   RFC 9110 section 15.5.5
//	origin form with a dot segment         400     http_request_error   RFC 3986 section 6.2.2.3
//	origin form with an encoded slash      400     http_request_error   RFC 3986 section 2.2
//	no Host                                400     http_request_error   RFC 9112 section 3.2
//	two Hosts                              400     http_request_error   RFC 9112 section 3.2
//	Host that is no authority              400     http_request_error   RFC 9112 section 3.2
//	two spaces in the request line         400     http_request_error   RFC 9112 section 3
//	method that is no token                400     http_request_error   RFC 9110 section 9.1
//	version that is none                   400     http_request_error   RFC 9112 section 2.3
//	HTTP/0.9                               400     http_request_error   RFC 9112 section 3
//	HTTP/1.2                               505     http_request_error   RFC 9110 section 15.6.6
//	HTTP/2 preface                         505     http_request_error   RFC 9110 section 15.6.6
//	TLS ClientHello                        400     http_request_error   RFC 9112 section 2.2
//	SOCKS 4 greeting                       400     http_request_error   RFC 9112 section 2.2
//	SOCKS 5 greeting                       400     http_request_error   RFC 9112 section 2.2
//	binary                                 400     http_request_error   RFC 9112 section 2.2
//	bare LF                                400     http_request_error   RFC 9112 section 2.2
//	bare CR                                400     http_request_error   RFC 9112 section 2.2
//	NUL                                    400     http_request_error   RFC 9110 section 5.5
//	DEL                                    400     http_request_error   RFC 9110 section 5.5
//	folded field                           400     http_request_error   RFC 9112 section 5.2
//	space before the first field           400     http_request_error   RFC 9112 section 2.2
//	space before the colon                 400     http_request_error   RFC 9112 section 5.1
//	field without colon                    400     http_request_error   RFC 9112 section 5
//	field without name                     400     http_request_error   RFC 9110 section 5.1
//	Content-Length and Transfer-Encoding   400     http_request_error   RFC 9112 section 6.1
//	two Content-Lengths                    400     http_request_error   RFC 9112 section 6.3
//	two equal Content-Lengths              400     http_request_error   RFC 9112 section 6.3
//	list of Content-Lengths                400     http_request_error   RFC 9112 section 6.3
//	signed Content-Length                  400     http_request_error   RFC 9110 section 8.6
//	Transfer-Encoding in HTTP/1.0          400     http_request_error   RFC 9112 section 6.1
//	other transfer coding                  501     http_request_error   RFC 9112 section 6.1
//	chunked twice                          501     http_request_error   RFC 9112 section 6.1
//	other expectation                      417     http_request_error   RFC 9110 section 10.1.1
//	OPTIONS with Max-Forwards 0            501     http_request_error   RFC 9110 section 7.6.2
//	head that ends early                   400     http_request_error   RFC 9112 section 8
//	head that comes slowly                 408     http_request_error   RFC 9110 section 15.5.9
//	connection without a byte              408     http_request_error   RFC 9110 section 15.5.9
//	request line over the limit            414     http_request_error   RFC 9112 section 3
//	head over the limit                    431     http_request_error   RFC 6585 section 5
//	too many fields                        431     http_request_error   RFC 6585 section 5
//
// # Refusals and failures
//
// CONNECT gets the status below, and the message as reason phrase, which is all
// that most clients show. In absolute form the three refusals get
// [Config].RefuseStatus.
//
//	reason                     status  error type
//	refused                    403     http_request_denied
//	denied                     403     http_request_denied
//	destination_ip_prohibited  403     destination_ip_prohibited
//	dns_error                  502     dns_error
//	dns_timeout                504     dns_timeout
//	connection_refused         502     connection_refused
//	connection_timeout         504     connection_timeout
//	destination_ip_unroutable  502     destination_ip_unroutable
//	connection_terminated      502     connection_terminated
//	http_protocol_error        502     http_protocol_error
//	connection_limit_reached   503     connection_limit_reached
//	out_of_descriptors         503     proxy_internal_error
//	idle_timeout               504     http_response_timeout
//
// # Other proxies
//
// The module in folder oracles sends all of these requests, and more, through
// goproxy, smokescreen, tinyproxy and squid too. Its testdata lists each
// disagreement, and the section that says why ours is right.
//
// # What it cannot do
//
// A tunnel is opaque: a server that holds several names may serve one under the
// name of another. Config.SNICheck sees to the name in the clear, not to what
// stands inside TLS. NAT64 prefixes that a network chose for itself (RFC 6052
// section 2.2) cannot be told from other addresses.
package egress
