// Package launcher launches agents by go-arapuca: it is the external launcher's
// backend, and compiles against every release of the library. A field that a
// release has not is found missing by reflection, and is then none of the
// backend's: whoever asks for it is refused before anything starts.
package launcher
