package catalog

// Forget empties the registry, so that a test can run again.
func Forget() { clear(registry) }
