package containers

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/api/types/container"
)

// form is one way to ask an engine for the privilege the lab needs.
type form struct {
	name  string // for the report
	apply func(*container.HostConfig)
}

// forms lists the ways, strongest first. What an engine grants is found by doing,
// since no question of its API tells: where the engine itself lacks a capability
// (often CAP_SYS_RESOURCE, in nested and CI machines) it cannot grant
// "privileged" ("unable to apply caps: operation not permitted"), and with
// user-namespace remapping it refuses to.
//
// missing are the capabilities this process cannot have either: on one machine a
// good guess of what its engine lacks.
func forms(missing []string) []form {
	all := []form{{name: "privileged", apply: func(host *container.HostConfig) { host.Privileged = true }}}
	if len(missing) > 0 {
		all = append(all, allBut(missing))
	}
	if strings.Join(missing, " ") != "SYS_RESOURCE" {
		all = append(all, allBut([]string{"SYS_RESOURCE"}))
	}
	return append(all, form{
		name: "the engine's default capabilities with NET_ADMIN, SYS_ADMIN and SYS_PTRACE, unconfined",
		apply: func(host *container.HostConfig) {
			host.CapAdd = []string{"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"}
			unconfine(host)
		},
	})
}

func allBut(dropped []string) form {
	return form{
		name: "all capabilities but " + strings.Join(dropped, ", ") + ", unconfined",
		apply: func(host *container.HostConfig) {
			host.CapAdd = []string{"ALL"}
			host.CapDrop = dropped
			unconfine(host)
		},
	}
}

// unconfine takes away what else stands between a container and a namespace of
// its own: the filters, and the masks over /proc without which the kernel refuses
// a fresh one.
func unconfine(host *container.HostConfig) {
	host.SecurityOpt = []string{"seccomp=unconfined", "apparmor=unconfined"}
	host.MaskedPaths = []string{}
	host.ReadonlyPaths = []string{}
}

// strongest starts with each form in turn until one succeeds; it returns what the
// start gave, the form's name, and why each stronger form was refused. It ends at
// once when ctx does.
func strongest[T any](ctx context.Context, all []form, start func(form) (T, error)) (T, string, []string, error) {
	var none T
	var refused []string
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return none, "", refused, err
		}
		started, err := start(f)
		if err == nil {
			return started, f.name, refused, nil
		}
		refused = append(refused, fmt.Sprintf("%s: %v", f.name, err))
	}
	return none, "", refused, fmt.Errorf("the engine starts the container in no form: %s", strings.Join(refused, "; "))
}
