package sandbox_test

import "testing"

// BenchmarkLaunch measures from Launch to the end of a program that does
// nothing.
func BenchmarkLaunch(b *testing.B) {
	if why := requireNamespaces(); why != "" {
		b.Skip("this host does not make the namespaces: " + why)
	}
	spec := shell("")
	spec.Path, spec.Args, spec.Ports = "/bin/true", nil, []uint16{18080}
	for b.Loop() {
		if code := runHere(spec); code != 0 {
			b.Fatalf("exit code %d", code)
		}
	}
}
