package escape

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-004",
	Title:  "inherits no descriptor that is not declared",
	Must:   "No descriptor but 0 to 2 and the declared ones MUST be inherited.",
	Level:  catalog.Security,
	Clause: "11.4",
	Needs:  []subject.Capability{subject.FDClean},
	Faults: []string{"descriptors-kept"},
	Why:    "An open directory, socket or listener of the caller passes by every rule; some sandboxes close only the first 1024.",
}, []kit.Row[int]{
	{Name: "at-3", Value: 3},
	{Name: "at-2048", Value: 2048},
}, func(ctx context.Context, t *kit.T, fd int) {
	for _, plant := range plants(t) {
		declared := t.Start(ctx, subject.Spec{Descriptors: []int{fd}}, kit.WithFile(fd, plant.file))
		t.Control("a declared "+plant.what, declared.Agent.Facts(ctx).Descriptors[fd], kit.Differ(""))

		phase := t.Start(ctx, subject.Spec{}, kit.WithFile(fd, plant.file))
		t.Attempt("descriptors after an undeclared "+plant.what, beyond(phase.Agent.Facts(ctx)), kit.BeNone())
		plant.file.Close()
	}
})

type plant struct {
	what string
	file *os.File
}

// plants are the kinds of descriptor that would be worth most to an agent.
func plants(t *kit.T) []plant {
	file, err := os.CreateTemp(t.Dir("plants"), "file")
	if err != nil {
		t.Fatal("plant: %v", err)
	}
	dir, err := os.Open("/")
	if err != nil {
		t.Fatal("plant: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("plant: %v", err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal("plant: %v", err)
	}
	defer conn.Close()
	return []plant{{"file", file}, {"directory", dir}, {"listening socket", dup(t, listener)}, {"connected socket", dup(t, conn)}}
}

func dup(t *kit.T, c any) *os.File {
	f, err := c.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal("plant: %v", err)
	}
	return f
}

// beyond lists what is open above 2. The probe's own poller is not inherited:
// it says so by its kind.
func beyond(f attempt.Facts) []string {
	list := []string{}
	for fd, what := range f.Descriptors {
		if fd > unix.Stderr && !slices.Contains([]string{"anon_inode:[eventpoll]", "anon_inode:[eventfd]"}, what) {
			list = append(list, fmt.Sprintf("%d %s", fd, what))
		}
	}
	return list
}
