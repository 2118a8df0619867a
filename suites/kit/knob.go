package kit

// WithKnob starts the subject in a denied or limited environment; the name is
// one of those of fakes/knob.
func WithKnob(name string) Option { return func(s *start) { s.knob = name } }

// command is the subject's command line, with what it is to run in before it.
func (s *start) command(cfg Config, args []string) []string {
	line := append([]string{cfg.Subject}, args...)
	if s.knob == "" {
		return line
	}
	return append([]string{cfg.Knob, s.knob, "--"}, line...)
}
