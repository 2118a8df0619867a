module bridgecheck/ref/arapuca

go 1.26.0

require (
	bridgecheck v0.0.0
	github.com/LeGambiArt/go-arapuca v0.2.5
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/landlock-lsm/go-landlock v0.11.2 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/text v0.43.0 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.78 // indirect
)

// The bridge is this repository's own. go-arapuca is replaced by a double of its
// API, so that everything here is built without it, without arapuca and without
// cgo; a build against the real one replaces it in a copy of this file.
replace (
	bridgecheck => ../..
	github.com/LeGambiArt/go-arapuca => ./double
)
