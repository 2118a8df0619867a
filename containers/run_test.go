package containers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// program builds the static program of testdata/cell once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "containers-test")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "cell"), "./testdata/cell")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return dir, errors.Join(err, errors.New(string(text)))
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := program(); err == nil || dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func engineAndCell(t *testing.T, args ...string) (Engine, Cell) {
	t.Helper()
	engine, err := Find(t.Context())
	if errors.Is(err, ErrNoEngine) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := program()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nothingLeft(t, engine) })
	return engine, Cell{
		Name:       "test",
		Files:      map[string]HostFile{"/bin/cell": {Path: filepath.Join(dir, "cell")}},
		Entrypoint: append([]string{"/bin/cell"}, args...),
		Env:        map[string]string{"BRIDGECHECK_TEST": "given"},
		Results:    "/results",
		Out:        filepath.Join(t.TempDir(), "out"),
	}
}

// left counts the containers and images on the engine that are ours.
func left(t *testing.T, engine Engine) (containers, images int) {
	t.Helper()
	api, err := client.New(client.WithHost(engine.Host))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = api.Close() }()
	ctx := context.Background() // the test's own has ended when this is a cleanup
	ours := make(client.Filters).Add("label", labelOwner)
	list, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		t.Fatal(err)
	}
	found, err := api.ImageList(ctx, client.ImageListOptions{All: true, Filters: ours})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		if strings.HasPrefix(c.Labels[labelOwner], self()+"/") {
			containers++
		}
	}
	for _, image := range found.Items {
		if strings.HasPrefix(image.Labels[labelOwner], self()+"/") {
			images++
		}
	}
	return containers, images
}

func nothingLeft(t *testing.T, engine Engine) {
	t.Helper()
	if containers, images := left(t, engine); containers+images > 0 {
		t.Errorf("left behind: %d containers, %d images", containers, images)
	}
}

func TestRun(t *testing.T) {
	engine, cell := engineAndCell(t, "7")
	var stdout, stderr bytes.Buffer
	result, err := Run(t.Context(), engine, cell, &stdout, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitCode != 7 || result.Privilege == "" || result.Took <= 0 {
		t.Errorf("got %+v, want exit code 7, a named privilege and a time", result)
	}
	t.Logf("privilege: %s; refused: %q; took %s", result.Privilege, result.Refused, result.Took)
	if stdout.String() != "to stdout\n" || !strings.HasPrefix(stderr.String(), "to stderr\n") {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(cell.Out, "seen.json"))
	if err != nil {
		t.Fatal(err)
	}
	var seen struct {
		UID        int
		Tmp        string
		Up         []string
		IPv6       bool
		Env        string
		Namespaces string
		Writable   bool `json:"resolv.conf writable"`
	}
	if err := json.Unmarshal(text, &seen); err != nil {
		t.Fatal(err)
	}
	if seen.UID != 0 || seen.Tmp != "dtrwxrwxrwx" || seen.Env != "given" || !seen.Writable {
		t.Errorf("the cell saw %s", text)
	}
	if len(seen.Up) != 1 || seen.Up[0] != "lo" {
		t.Errorf("interfaces up: %q, want lo alone", seen.Up)
	}
	if seen.Namespaces != "" {
		t.Errorf("no user and network namespace in the cell: %s", seen.Namespaces)
	}
	if !seen.IPv6 && ipv6Sysctls() != nil {
		t.Error("the host has IPv6, ::1 in the cell cannot be bound")
	}
	if _, err := os.Stat(filepath.Join(cell.Out, "deep", "empty")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(cell.Out, "link")); err == nil {
		t.Error("a link was copied out of the container")
	}
}

func TestRunCancelled(t *testing.T) {
	engine, cell := engineAndCell(t, "wait")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	go func() {
		// The output is live: the line comes while the cell waits.
		var seen strings.Builder
		buffer := make([]byte, 256)
		for {
			n, err := reader.Read(buffer)
			seen.Write(buffer[:n])
			if strings.Contains(seen.String(), "waiting\n") {
				cancel()
			}
			if err != nil {
				return
			}
		}
	}()
	_, err := Run(ctx, engine, cell, writer, io.Discard)
	_ = writer.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := os.Stat(filepath.Join(cell.Out, "seen.json")); err != nil {
		t.Errorf("what was written before the end is lost: %v", err)
	}
}

func TestRunStartsNothing(t *testing.T) {
	engine, cell := engineAndCell(t, "0")
	cell.Entrypoint = []string{"/no/such/program"}
	result, err := Run(t.Context(), engine, cell, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "/no/such/program") || len(result.Refused) == 0 {
		t.Errorf("got %+v, %v; want an error that names the program", result, err)
	}
}

func TestRunWithoutResults(t *testing.T) {
	engine, cell := engineAndCell(t, "0")
	cell.Results = "/nothing/here"
	result, err := Run(t.Context(), engine, cell, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "/nothing/here") || result.ExitCode != 0 {
		t.Errorf("got %+v, %v; want exit code 0 and an error that names the folder", result, err)
	}
}

func TestSweep(t *testing.T) {
	engine, cell := engineAndCell(t, "0")
	d, err := connect(engine)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.close() }()
	owner := newOwner()
	image, err := d.build(t.Context(), cell, owner)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if removed, err := d.removeImages(context.Background(), owner); err != nil || removed == 0 {
			t.Errorf("removed %d images, %v", removed, err)
		}
	}()
	dead := strings.Join([]string{"another-boot", pidNamespace(), "1", "1", "1"}, "/")
	if _, err := d.build(t.Context(), cell, dead); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{owner, dead} {
		created, err := d.api.ContainerCreate(t.Context(), client.ContainerCreateOptions{
			Config: &container.Config{Image: image, Entrypoint: cell.Entrypoint, Labels: map[string]string{labelOwner: who}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			_, _ = d.api.ContainerRemove(context.Background(), created.ID, client.ContainerRemoveOptions{Force: true})
		}()
	}
	if removed, err := Sweep(t.Context(), engine); err != nil || removed < 2 {
		t.Errorf("swept %d, %v; want the container and the image of the dead run", removed, err)
	}
	if removed, err := Sweep(t.Context(), engine); err != nil || removed != 0 {
		t.Errorf("swept %d, %v the second time; nothing was left", removed, err)
	}
	if containers, images := left(t, engine); containers != 1 || images == 0 {
		t.Errorf("%d containers and %d images of the living run are there, want 1 and at least 1", containers, images)
	}
}

func TestValidate(t *testing.T) {
	good := Cell{Name: "c", Entrypoint: []string{"/x"}, Files: map[string]HostFile{"/x": {Path: "/x"}}}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Cell){
		"no name":             func(c *Cell) { c.Name = "" },
		"no entrypoint":       func(c *Cell) { c.Entrypoint = nil },
		"relative file":       func(c *Cell) { c.Files = map[string]HostFile{"x": {}} },
		"file above the root": func(c *Cell) { c.Files = map[string]HostFile{"/../x": {}} },
		"the root itself":     func(c *Cell) { c.Files = map[string]HostFile{"/": {}} },
		"relative results":    func(c *Cell) { c.Results, c.Out = "results", "/out" },
		"results to nowhere":  func(c *Cell) { c.Results = "/results" },
	} {
		t.Run(name, func(t *testing.T) {
			cell := good
			change(&cell)
			if _, err := Run(t.Context(), Engine{}, cell, io.Discard, io.Discard); err == nil {
				t.Error("accepted")
			}
		})
	}
}
