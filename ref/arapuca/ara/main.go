package ara

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
)

// Main is the whole program.
func Main() {
	// What the library starts ends with the thread that started it; this is the
	// one that lives as long as the process.
	runtime.LockOSThread()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ara:", err)
		os.Exit(2)
	}
}

func run() error {
	order := flag.String("order", "", "file with the order, JSON")
	facts := flag.String("facts", "", "file that gets a line of JSON for each step")
	flag.Parse()
	o, err := read(*order)
	if err != nil {
		return fmt.Errorf("order: %w", err)
	}
	out, err := os.OpenFile(*facts, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	defer out.Close()
	s := newSession()
	for _, step := range o.Steps {
		fact, err := s.do(step)
		if err != nil {
			return fmt.Errorf("step %s: %w", step.Do, err)
		}
		fact.Do, fact.Process = step.Do, step.Process
		line, err := json.Marshal(fact)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("facts: %w", err)
		}
	}
	return nil
}

func read(path string) (o Order, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return o, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, err
	}
	if len(o.Steps) == 0 {
		return o, errors.New("it has no steps")
	}
	return o, nil
}
