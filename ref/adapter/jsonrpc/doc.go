// Package jsonrpc reads the few values of a JSON-RPC 2.0 message that a
// transport must know, and changes single tokens of it in place. Everything
// else stays as it came, byte for byte: numbers above 2^53, the order of keys,
// members nobody has heard of.
package jsonrpc

import "errors"

// The error codes used by the bridge: https://www.jsonrpc.org/specification#error_object
// and, below -32000, the MCP specification 2026-07-28.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603

	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

var (
	// ErrNotJSON means that the bytes are not one JSON value.
	ErrNotJSON = errors.New("not JSON")
	// ErrInvalid means JSON that is not a JSON-RPC 2.0 message.
	ErrInvalid = errors.New("not a JSON-RPC message")
)
