// Command conformance runs the official MCP conformance suite twice, direct and
// through the reference bridge, and compares the two check by check: what the
// suite says of a server or a client must not depend on the bridge between them.
//
// Server side: the suite is the client, run as the agent in the sandbox, and
// the server of the go-sdk stands on the host, over stdio behind the adapter or
// speaking HTTP itself (url). Client side: the suite is the server, on the host,
// and the client of the go-sdk is the agent. Differences that cannot be
// otherwise stand in differences.yaml with the reason; any other, and any entry
// that no longer happens, ends the command with 1.
//
// With the argument gateways it compares the bridge with other gateways from
// stdio to HTTP instead: what passes, what a call and a session cost, and how a
// client learns of a server that misbehaves.
//
// With the argument agents it lets released coding agents, driven by a scripted
// model, and released MCP servers work through the bridge, by every door.
//
// It is a module of its own so that the one that is checked needs no SDK.
package main
