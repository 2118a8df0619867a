package kit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"

	"bridgecheck/fakes/attempt"
)

// matcher is a Gomega matcher that says in words what it wants.
type matcher struct {
	want  string
	match func(got any) (bool, error)
}

func (m matcher) Match(got any) (bool, error)      { return m.match(got) }
func (m matcher) String() string                   { return m.want }
func (m matcher) FailureMessage(got any) string    { return fmt.Sprintf("%v\nto be %s", got, m.want) }
func (m matcher) NegatedFailureMessage(any) string { return "not to be " + m.want }

func onObservation(want string, match func(attempt.Observation) bool) types.GomegaMatcher {
	return matcher{want, func(got any) (bool, error) {
		obs, ok := got.(attempt.Observation)
		if !ok {
			return false, fmt.Errorf("harness: %T is no observation", got)
		}
		return match(obs), nil
	}}
}

// Succeed wants an attempt that worked.
func Succeed() types.GomegaMatcher {
	return onObservation("success", func(o attempt.Observation) bool { return o.Errno == "" && o.Error == "" })
}

// BeStatus wants a whole HTTP answer with one of the statuses. It is the only
// way to assert a refusal over HTTP: "any failure" is never one.
func BeStatus(statuses ...int) types.GomegaMatcher {
	want := "an answer with status " + strings.Trim(strings.ReplaceAll(fmt.Sprint(statuses), " ", " or "), "[]")
	return onObservation(want, func(o attempt.Observation) bool {
		return o.Errno == "" && slices.Contains(statuses, o.Status)
	})
}

// BeRefusal wants a whole HTTP answer that says no: a final 4xx or 5xx.
func BeRefusal() types.GomegaMatcher {
	return onObservation("a final answer with status 4xx or 5xx", func(o attempt.Observation) bool {
		return o.Errno == "" && o.Status >= 400 && o.Status < 600
	})
}

// HaveErrno wants an attempt that ended with one of the errnos.
func HaveErrno(errnos ...string) types.GomegaMatcher {
	return onObservation(strings.Join(errnos, " or "), func(o attempt.Observation) bool {
		return slices.Contains(errnos, o.Errno)
	})
}

// HaveText wants an attempt that worked and whose text is this.
func HaveText(text string) types.GomegaMatcher {
	return onObservation(fmt.Sprintf("success with text %q", text), func(o attempt.Observation) bool {
		return o.Errno == "" && o.Text == text
	})
}

// HaveData wants received bytes that are these.
func HaveData(data string) types.GomegaMatcher {
	return onObservation(fmt.Sprintf("the bytes %q", data), func(o attempt.Observation) bool {
		return o.Errno == "" && string(o.Data) == data
	})
}

// BeNone wants the number 0 or an empty list.
func BeNone() types.GomegaMatcher {
	return matcher{"none", func(got any) (bool, error) {
		v := reflect.ValueOf(got)
		switch v.Kind() {
		case reflect.Int, reflect.Int64:
			return v.Int() == 0, nil
		case reflect.Slice, reflect.Map, reflect.String:
			return v.Len() == 0, nil
		}
		return false, fmt.Errorf("harness: %T can be neither 0 nor empty", got)
	}}
}

// Be wants a value that is equal to this one.
func Be(want any) types.GomegaMatcher {
	return matcher{describe(want), func(got any) (bool, error) { return reflect.DeepEqual(got, want), nil }}
}

// BeOneOf wants one of the words.
func BeOneOf(words ...string) types.GomegaMatcher {
	return matcher{strings.Join(words, " or "), func(got any) (bool, error) {
		word, ok := got.(string)
		if !ok {
			return false, fmt.Errorf("harness: %T is no word", got)
		}
		return slices.Contains(words, word), nil
	}}
}

// Differ wants a value that is not equal to this one.
func Differ(from any) types.GomegaMatcher {
	return matcher{"other than " + describe(from), func(got any) (bool, error) { return !reflect.DeepEqual(got, from), nil }}
}

// Contain wants a string with this part in it, or a list with this element.
func Contain(part string) types.GomegaMatcher {
	return matcher{fmt.Sprintf("to contain %q", part), func(got any) (bool, error) {
		switch got := got.(type) {
		case string:
			return strings.Contains(got, part), nil
		case []string:
			return slices.Contains(got, part), nil
		}
		return false, fmt.Errorf("harness: %T cannot contain a string", got)
	}}
}

// Lack wants a list without this element.
func Lack(element string) types.GomegaMatcher {
	return matcher{fmt.Sprintf("a list without %q", element), func(got any) (bool, error) {
		list, ok := got.([]string)
		if !ok {
			return false, fmt.Errorf("harness: %T is no list", got)
		}
		return !slices.Contains(list, element), nil
	}}
}
