package oracles

import (
	"strings"

	"bridgecheck/ref/egress/internal/vectors"
)

const halfClose = "RFC 9110 section 9.3.6, RFC 9293 section 3.6"

var (
	early    = strings.Repeat("E", 20_000)
	megabyte = strings.Repeat("y", 1<<20)
)

// tunnels are questions about bytes after CONNECT: none is lost, none added,
// and an end is passed on as what it is.
var tunnels = []vector{
	{name: "tunnel", source: connects, why: "bytes pass both ways", sends: vectors.Connect("far.test:443")},
	{name: "tunnel by HTTP/1.0", source: connects, why: "CONNECT needs no Host in HTTP/1.0", sends: "CONNECT far.test:443 HTTP/1.0\r\n\r\n"},
	{name: "tunnel to port 80", source: connects, why: "some clients tunnel http too", sends: vectors.Connect("far.test:80"), inTunnel: get("/inside", "far.test"), reply: webReply, farGets: "GET /inside for far.test"},
	{name: "tunnel, Host without port", source: "RFC 9110 section 7.2", why: "it is the same name", sends: "CONNECT far.test:443 HTTP/1.1\r\nHost: far.test\r\n\r\n"},
	{name: "tunnel, empty Host", source: "RFC 9112 section 3.2", why: "CONNECT has an authority, so Host has to be it", sends: "CONNECT far.test:443 HTTP/1.1\r\nHost:\r\n\r\n"},
	{name: "tunnel, Content-Length 0", source: connects, why: "no body follows", sends: "CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\nContent-Length: 0\r\n\r\n"},
	{name: "tunnel, CRLF before the request", source: "RFC 9112 section 2.2", why: "one is ignored", sends: "\r\n" + vectors.Connect("far.test:443")},
	{name: "bytes in one piece with CONNECT", source: connects, why: "they are the tunnel's first", sends: vectors.Connect("far.test:443") + "EARLY", reply: "EARLYping", farGets: "EARLYping"},
	{name: "many bytes in one piece with CONNECT", source: connects, why: "they are the tunnel's first", sends: vectors.Connect("far.test:443") + early, reply: early + ping, farGets: early + ping},
	{name: "a server that speaks first", source: connects, why: "its bytes follow the head of the answer", sends: vectors.Connect("far.test:7001"), reply: "220 ready\r\nping"},
	{name: "a client that ends first", source: halfClose, why: "the answer to all it sent still comes", sends: vectors.Connect("far.test:7002"), inTunnel: megabyte, reply: "got 1048576 bytes", order: clientEnds},
	{name: "a client that ends with CONNECT", source: halfClose, why: "its end is passed on, and the tunnel serves the other direction", sends: vectors.Connect("far.test:7002") + "all", ends: true, inTunnel: " ", reply: "got 3 bytes", farGets: "all", order: clientEnds, raced: true},
	{name: "a server that ends first", source: halfClose, why: "it still gets all that the client sends", sends: vectors.Connect("far.test:7003"), inTunnel: megabyte, reply: "bye", order: serverEnds},
	{name: "a server that resets", source: "RFC 9293 section 3.10.7.4", why: "a cut answer must not look whole", sends: vectors.Connect("far.test:7004"), reply: "half an answer", resets: true},
}

func upgrade(host string) string {
	return "GET http://" + host + "/ws HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
}

const persistent = "RFC 9112 section 9.3"

// pipelines are questions about what follows a request on its connection.
var pipelines = []vector{
	{name: "upgrade to WebSocket", source: "RFC 9110 section 7.8", why: "the same list and the same dial as any request", sends: upgrade("ws.test"), reply: "firstping"},
	{name: "upgrade to WebSocket, refused host", source: "RFC 9110 section 7.8", sends: upgrade("evil.example")},
	{name: "upgrade to something else", source: "RFC 9110 section 7.8", why: "a proxy may ignore Upgrade; it never passes on a protocol that it was not made for", sends: "GET http://ws.test/ HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"},
	{
		name: "allowed, refused, allowed in one piece", source: persistent, why: "each request is judged", requests: 3,
		sends: get("http://one.test/", "one.test") + get("http://evil.example/", "evil.example") + get("http://two.test/", "two.test"),
	},
	{
		name: "allowed, then another Host by origin form", source: persistent, why: "each request is judged", requests: 2,
		sends: get("http://one.test/", "one.test") + get("/", "evil.example"),
	},
	{
		name: "request behind a refused CONNECT", source: connects, why: "what follows could be the tunnel's bytes: never a request", requests: 2,
		sends: vectors.Connect("evil.example:443") + get("http://one.test/hidden", "one.test"),
	},
	{
		name: "request behind a bad request", source: "RFC 9112 section 9.6", why: "where one request is not understood, no other begins", requests: 2,
		sends: "GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\nX : y\r\n\r\n" + get("http://one.test/hidden", "one.test"),
	},
	{
		name: "request behind a body that nobody wants", source: "RFC 9112 section 9.6", why: "a refusal need not read the body to its end: it ends the connection", requests: 2,
		sends: "POST http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 3\r\n\r\nabc" + get("http://one.test/hidden", "one.test"),
	},
	{
		name: "request behind Connection: close", source: "RFC 9112 section 9.6", why: "the last request was the last", requests: 2,
		sends: "GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\nConnection: close\r\n\r\n" + get("http://two.test/", "two.test"),
	},
	{
		name: "hop-by-hop fields", source: "RFC 9110 section 7.6.1", why: "they end at the proxy; what Connection names, too",
		sends: "GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\nConnection: X-Secret\r\nX-Secret: y\r\nProxy-Authorization: z\r\nTE: trailers\r\n\r\n",
	},
	{
		name: "head that drips", source: "RFC 9110 section 15.5.9", drips: true,
		sends: "GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\nX: ",
	},
	{
		name: "100-continue", source: "RFC 9110 section 10.1.1", why: "the client is told to go on",
		sends: "POST http://one.test/ HTTP/1.1\r\nHost: one.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
	},
}
