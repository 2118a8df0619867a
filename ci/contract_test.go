package ci_test

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
	"bridgecheck/suites/subject"
)

// The reference bridge does not import the contract's types, so that a mistake
// in one is not repeated in the other. Here the two are compared.

// shape lists the JSON keys of a type with their types, as servers[].name string.
func shape(t reflect.Type, prefix string, into map[string]string) {
	switch t.Kind() {
	case reflect.Pointer:
		shape(t.Elem(), prefix, into)
	case reflect.Slice:
		shape(t.Elem(), prefix+"[]", into)
	case reflect.Map:
		shape(t.Elem(), prefix+"{}", into)
	case reflect.Struct:
		for f := range t.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case key == "-":
			case key == "":
				into[prefix+"."+f.Name] = "has no JSON key"
			default:
				shape(f.Type, prefix+"."+key, into)
			}
		}
	default:
		into[prefix] = t.Kind().String()
	}
}

func shapeOf[T any]() map[string]string {
	into := map[string]string{}
	shape(reflect.TypeFor[T](), "", into)
	return into
}

func compareShapes(t *testing.T, contract, bridge map[string]string) {
	t.Helper()
	keys := map[string]bool{}
	for _, m := range []map[string]string{contract, bridge} {
		for key := range m {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if contract[key] != bridge[key] {
			t.Errorf("%s is %q in the contract and %q in ref", key, contract[key], bridge[key])
		}
	}
}

func TestSpecShape(t *testing.T) { compareShapes(t, shapeOf[subject.Spec](), shapeOf[config.Spec]()) }

// TestShapeDiffers: the comparison sees another type, nesting and a lost key.
func TestShapeDiffers(t *testing.T) {
	type a struct {
		X []struct {
			Y int `json:"y"`
		} `json:"x"`
		Z string
	}
	got := shapeOf[a]()
	want := map[string]string{".x[].y": "int", ".Z": "has no JSON key"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestEvents: what ref writes, with only the keys it must and with all it may
// have, is what the contract's schema allows.
func TestEvents(t *testing.T) {
	code, zero := 7, 0
	events := []event.Event{
		event.Mode{Mode: "connect", Level: "isolated", Reason: "x"},
		event.Mode{
			Mode: "shared-network", Level: "shared/none", Reason: "x", Servers: []string{"a"},
			Allow: []string{"a.test:443"}, Layers: map[string]string{"netns": "off"},
		},
		event.ServerProgress{Server: "a"},
		event.ServerStarted{Server: "a"},
		event.ServerStarted{Server: "a", Socket: "/run/a", URL: "http://a/", Port: 1, Containment: "namespace", Took: 1},
		event.Ready{},
		event.Ready{Doors: []event.Door{{Server: "a", Kind: "proxy", Transport: "http", URL: "http://a/"}}, V4: true, V6: true},
		event.Decision{Target: "a.test:443", Verdict: "allow"},
		event.Decision{Target: "a.test:443", Rule: "a.test:443", Server: "a", Verdict: "deny", Reason: "not-listed", Dialled: "192.0.2.1:443"},
		event.ServerExited{Server: "a", Code: &zero},
		event.ServerExited{Server: "a", Signal: "SIGKILL", StderrTail: "x"},
		event.ServerUnhealthy{Server: "a", Reason: "hung"},
		event.ServerStopped{Server: "a", How: "term"},
		event.Unsupported{Field: "tty"},
		event.Unsupported{Field: "tty", Reason: "x"},
		event.Error{Stage: "netns", Reason: "x"},
		event.Error{Stage: "netns", Reason: "x", Errno: "EPERM", Causes: []string{"x"}, Server: "a", StderrTail: "x"},
		event.Exit{Code: &code, Reason: "agent"},
		event.Exit{Signal: "SIGKILL", Reason: "agent"},
	}
	for _, e := range events {
		var line bytes.Buffer
		event.NewRecorder(&line).Emit(e)
		if err := subject.ValidateEvent(line.Bytes()); err != nil {
			t.Errorf("%s%v", line.Bytes(), err)
		}
	}
}
