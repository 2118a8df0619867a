// Command fakemcp is a fake MCP server; see package bridgecheck/fakes/mcp.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"bridgecheck/fakes/mcp"
	"bridgecheck/fakes/process"
)

func main() {
	if process.Helper(os.Args) {
		return
	}
	options, err := mcp.Parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "fakemcp:", err)
		os.Exit(2)
	}
	os.Exit(mcp.Run(options))
}
