package external

import (
	"testing"

	"bridgecheck/ref/sandbox"
)

func TestExplain(t *testing.T) {
	for said, want := range map[string]Failed{
		"unshare: unshare failed: Operation not permitted":            {Stage: sandbox.StageClone, Errno: "EPERM"},
		"launch: clone: make the namespaces: no space left on device": {Stage: sandbox.StageClone, Errno: "ENOSPC"},
		"arapuca: bridge: loopback: Operation not permitted":          {Stage: sandbox.StageLoopback, Errno: "EPERM"},
		"Landlock: not enforced":                                      {Stage: sandbox.StageLandlock},
		"something else":                                              {Stage: sandbox.StageInit},
	} {
		want.Reason = said
		if got := *Explain(said); got != want {
			t.Errorf("%q: got %+v, want %+v", said, got, want)
		}
	}
}
