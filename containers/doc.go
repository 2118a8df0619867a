// Package containers runs a cell of the lab as one container of a Docker or
// podman engine: an image FROM scratch with the given static binaries, no
// network, the strongest privilege the engine grants, the results copied out of
// the ended container, and nothing left behind.
//
// [Find] looks for an engine that answers, [Run] runs one [Cell], [Sweep]
// removes what crashed runs left. The package knows nothing of the suites: what
// the binaries do is the caller's business.
package containers
