module bridgecheck/ref/arapuca

go 1.26.0

require (
	bridgecheck v0.0.0
	github.com/LeGambiArt/go-arapuca v0.2.5
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/landlock-lsm/go-landlock v0.11.2 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.78 // indirect
)

// The bridge is this repository's own. go-arapuca is replaced by a double of its
// API, so that everything here is built without it, without arapuca and without
// cgo; a build against the real one replaces it in a copy of this file.
replace (
	bridgecheck => ../..
	github.com/LeGambiArt/go-arapuca => ./double
)
