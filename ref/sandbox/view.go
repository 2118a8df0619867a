package sandbox

import "bridgecheck/ref/sandbox/internal/wire"

// View is what a Spec comes to on this host, for a launcher that is not Launch.
type View struct {
	// Path is the program; a bare name where no directory of PATH has it.
	Path string
	// RO and RW are real paths, sorted: those declared, SystemPaths, and the
	// program. One in RW may lie below one in RO, and the other way round.
	RO, RW []string
}

// Look checks a Spec as Launch does, and gives what Launch would show. The host's
// root is no obstacle to a limit of processes here. The error is a *Refusal.
func Look(s Spec) (View, error) {
	s.Limits.PIDs = min(s.Limits.PIDs, 0) // one below 0 is still refused
	cfg, err := resolve(&s)
	if err != nil {
		return View{}, err
	}
	v := View{Path: cfg.Path}
	for _, m := range cfg.Mounts {
		v.add(m)
	}
	return v, nil
}

func (v *View) add(m wire.Mount) {
	if m.Write {
		v.RW = append(v.RW, m.Path)
	} else {
		v.RO = append(v.RO, m.Path)
	}
}
