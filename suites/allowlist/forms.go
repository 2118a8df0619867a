package allowlist

import (
	"context"
	"strconv"
	"strings"

	"github.com/onsi/gomega/types"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// form is one way to ask the proxy for an authority.
type form struct {
	name string
	ask  func(ctx context.Context, a *kit.Agent, authority string) attempt.Observation
	// refused is the right refusal of a target that no rule allows.
	refused types.GomegaMatcher
}

var connect = form{
	name: "CONNECT", refused: kit.BeStatus(403),
	ask: func(ctx context.Context, a *kit.Agent, authority string) attempt.Observation {
		return a.Connect(ctx, authority)
	},
}

var absolute = form{
	name: "absolute form", refused: kit.BeRefusal(),
	ask: func(ctx context.Context, a *kit.Agent, authority string) attempt.Observation {
		return a.Get(ctx, "http://"+authority+"/", "proxy")
	},
}

// forms are the ways that the subject claims, CONNECT first.
func forms(t *kit.T) []form {
	all := []form{connect}
	if t.Subject().Claims(subject.AbsoluteForm) {
		all = append(all, absolute)
	}
	return all
}

// fill puts URL, name and port of the upstream for URL, NAME and PORT, and for
// WRAPPED a number that is the port in its lower 16 bits.
func fill(pattern string, u *kit.Upstream) string {
	return strings.NewReplacer("URL", u.URL(), "NAME", u.Name, "PORT", strconv.Itoa(u.Port()), "WRAPPED", strconv.Itoa(u.Port()+1<<16)).Replace(pattern)
}
