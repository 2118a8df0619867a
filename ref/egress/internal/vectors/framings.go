package vectors

// Framing is a POST request by the fields that say where its body ends.
type Framing struct {
	Name string
	// Fields end in CRLF each; Body is what follows the head.
	Fields, Body string
	// Seen is the body that the upstream may see, empty for no request at all.
	Seen string
	// Source is the section that says so.
	Source string
}

// Hidden is a body that looks like a request.
const Hidden = "GET /hidden HTTP/1.1\r\nHost: evil.tes\r\n\r\nxxxx" // 44 bytes, in hexadecimal 2c

// Framings are requests that are normal, or that two recipients could read in
// two ways.
var Framings = []Framing{
	{"plain", "Content-Length: 3\r\n", "abc", "abc", "RFC 9112 section 6.2"},
	{"body that looks like a request", "Content-Length: 44\r\n", Hidden, Hidden, "RFC 9112 section 6.2"},
	{"chunked", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc", "RFC 9112 section 7.1"},
	{"chunked, upper case", "Transfer-Encoding: CHUNKED\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc", "RFC 9112 section 7"},
	{"chunk extension", "Transfer-Encoding: chunked\r\n", "3;a=\"b\"\r\nabc\r\n0\r\n\r\n", "abc", "RFC 9112 section 7.1.1"},
	{"trailer", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\nHost: evil.test\r\n\r\n", "abc", "RFC 9110 section 6.5.1"},
	{"CL.TE", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + Hidden, "", "RFC 9112 section 6.1"},
	{"TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "2c\r\n" + Hidden + "\r\n0\r\n\r\n", "", "RFC 9112 section 6.1"},
	{"TE.TE", "Transfer-Encoding: chunked\r\nTransfer-encoding: identity\r\n", "0\r\n\r\n" + Hidden, "", "RFC 9112 section 6.1"},
	{"TE list", "Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n" + Hidden, "", "RFC 9112 section 6.1"},
	{"TE with tab", "Transfer-Encoding:\tchunked\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc", "RFC 9112 section 5"},
	{"TE with vertical tab", "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n" + Hidden, "", "RFC 9110 section 5.5"},
	{"TE with space before the colon", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + Hidden, "", "RFC 9112 section 5.1"},
	{"TE folded", "Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + Hidden, "", "RFC 9112 section 5.2"},
	{"TE in quotes", "Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n" + Hidden, "", "RFC 9112 section 7"},
	{"two CLs", "Content-Length: 0\r\nContent-Length: 44\r\n", Hidden, "", "RFC 9112 section 6.3"},
	{"CL list", "Content-Length: 0, 44\r\n", Hidden, "", "RFC 9112 section 6.3"},
	{"hexadecimal CL", "Content-Length: 0x2c\r\n", Hidden, "", "RFC 9110 section 8.6"},
	{"CL over 63 bits", "Content-Length: 9223372036854775808\r\n", Hidden, "", "RFC 9110 section 8.6"},
	{"CL nominated by Connection", "Connection: Content-Length\r\nContent-Length: 3\r\n", "abc", "abc", "RFC 9110 section 7.6.1"},
	{"TE nominated by Connection", "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc", "RFC 9110 section 7.6.1"},
	{"Host nominated by Connection", "Connection: Host\r\nContent-Length: 3\r\n", "abc", "abc", "RFC 9110 section 7.6.1"},
	{"field hidden by CR", "X: y\rContent-Length: 44\r\n", Hidden, "", "RFC 9112 section 2.2"},
	{"field hidden by LF", "X: y\nContent-Length: 44\r\n", Hidden, "", "RFC 9112 section 2.2"},
	{"field hidden by NUL", "X: y\x00Content-Length: 44\r\n", Hidden, "", "RFC 9110 section 5.5"},
}

// BrokenBodies are chunked bodies that break off or have an error: none may
// reach an upstream as a whole one.
var BrokenBodies = []string{
	CutBody,
	"3\nabc\r\n0\r\n\r\n", "3\r\nabcX\r\n0\r\n\r\n", "-1\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n",
	"ffffffffffffffffff\r\n", " 3\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\n X\r\n\r\n",
}

// CutBody breaks off: the client ends its side.
const CutBody = "3\r\nabc\r\n"
