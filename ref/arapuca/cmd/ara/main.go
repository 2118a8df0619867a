// Command ara exercises the interface of go-arapuca; see package ara.
package main

import "bridgecheck/ref/arapuca/ara"

func main() { ara.Main() }
