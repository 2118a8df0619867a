package kit

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"bridgecheck/fakes/attempt"
)

// TestMatchers has, for each matcher, what it must take and what is nearest to
// that and must be refused.
func TestMatchers(t *testing.T) {
	for _, tt := range []struct {
		name       string
		want       types.GomegaMatcher
		yes, no    any
		saysOfWant string
	}{
		{"success", Succeed(), attempt.Observation{}, attempt.Observation{Errno: "EPERM"}, "success"},
		{"status", BeStatus(403, 502), attempt.Observation{Status: 502}, attempt.Observation{Status: 200}, "403 or 502"},
		{"status, cut off", BeStatus(200), attempt.Observation{Status: 200}, attempt.Observation{Status: 200, Errno: "ECONNRESET"}, "200"},
		{"status, no answer", BeStatus(403), attempt.Observation{Status: 403}, attempt.Observation{Errno: "eof"}, "403"},
		{"refusal", BeRefusal(), attempt.Observation{Status: 502}, attempt.Observation{Status: 302}, "4xx or 5xx"},
		{"refusal, cut off", BeRefusal(), attempt.Observation{Status: 403}, attempt.Observation{Status: 403, Errno: "eof"}, "4xx or 5xx"},
		{"errno", HaveErrno("EPERM", "EACCES"), attempt.Observation{Errno: "EACCES"}, attempt.Observation{Errno: "timeout"}, "EPERM or EACCES"},
		{"errno, none", HaveErrno("EPERM"), attempt.Observation{Errno: "EPERM"}, attempt.Observation{}, "EPERM"},
		{"data", HaveData("ping"), attempt.Observation{Data: []byte("ping")}, attempt.Observation{Data: []byte("pin")}, `"ping"`},
		{"text", HaveText("a"), attempt.Observation{Text: "a"}, attempt.Observation{Text: "b"}, `"a"`},
		{"one of", BeOneOf("deny", "error"), "error", "allow", "deny or error"},
		{"none, a number", BeNone(), 0, 1, "none"},
		{"none, a list", BeNone(), []string{}, []string{"x"}, "none"},
		{"be", Be(125), 125, 0, "125"},
		{"differ", Differ(0), 1, 0, "other than"},
		{"contain", Contain("UP"), []string{"UP"}, []string{"DOWN"}, "UP"},
		{"lack", Lack("UP"), []string{"DOWN"}, []string{"UP"}, "UP"},
		{"gomega's own", gomega.BeNumerically(">=", 2), 2, 1, "to be >="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if ok, err := tt.want.Match(tt.yes); !ok || err != nil {
				t.Errorf("does not take %s: %v", describe(tt.yes), err)
			}
			if ok, _ := tt.want.Match(tt.no); ok {
				t.Errorf("takes %s", describe(tt.no))
			}
			if said := describeWant(tt.no, tt.want); !strings.Contains(said, tt.saysOfWant) {
				t.Errorf("says %q", said)
			}
		})
	}
}

// TestMatcherOfWrongType: a matcher that meets what it cannot judge says so
// instead of giving an answer.
func TestMatcherOfWrongType(t *testing.T) {
	for _, m := range []types.GomegaMatcher{Succeed(), BeStatus(200), HaveErrno("EPERM"), Contain("x"), Lack("x"), BeNone(), BeRefusal(), BeOneOf("x")} {
		if _, err := m.Match(struct{}{}); err == nil {
			t.Errorf("%s judged a struct", m)
		}
	}
}
