package egress

import (
	"fmt"
	"testing"
)

func mustRule(t testing.TB, host string, port int, addresses ...string) Rule {
	t.Helper()
	r, err := ParseRule(host, port, addresses)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustDeny(t testing.TB, host string, port int) Rule {
	t.Helper()
	r, err := ParseDenyRule(host, port)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustAuthority(t testing.TB, s string) Authority {
	t.Helper()
	a, err := ParseAuthority(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestDecide(t *testing.T) {
	p := NewPolicy(
		[]Rule{
			mustRule(t, "example.test", 443), mustRule(t, "*.example.test", 443), mustRule(t, "*.deep.example.test", 443),
			mustRule(t, "www.example.test", 443), mustRule(t, "192.0.2.1", 80), mustRule(t, "2001:db8::1", 80),
			mustRule(t, "*.cloud.test", 443),
			{},
		},
		[]Rule{mustDeny(t, "secret.example.test", 443), mustDeny(t, "*.bad.example.test", 443)},
	)
	rows := []struct {
		target, rule string // rule "" is a refusal
		reason       Reason
	}{
		{"example.test:443", "example.test:443", ""},
		{"example.test:444", "", ReasonRefused},
		{"EXAMPLE.TEST.:443", "example.test:443", ""},
		{"www.example.test:443", "www.example.test:443", ""},
		{"a.example.test:443", "*.example.test:443", ""},
		{"a.b.c.example.test:443", "*.example.test:443", ""},
		{"a.deep.example.test:443", "*.deep.example.test:443", ""},
		{"deep.example.test:443", "*.example.test:443", ""},
		{"a.example.test:80", "", ReasonRefused},
		{"evilexample.test:443", "", ReasonRefused},
		{"example.test.evil.test:443", "", ReasonRefused},
		{"test:443", "", ReasonRefused},
		{"cloud.test:443", "", ReasonRefused}, // the apex
		{"x.cloud.test:443", "*.cloud.test:443", ""},
		{"secret.example.test:443", "secret.example.test:443", ReasonDenied},
		{"x.bad.example.test:443", "*.bad.example.test:443", ReasonDenied},
		{"bad.example.test:443", "*.example.test:443", ""},
		{"192.0.2.1:80", "192.0.2.1:80", ""},
		{"[::ffff:192.0.2.1]:80", "192.0.2.1:80", ""},
		{"192.0.2.2:80", "", ReasonRefused},
		{"[2001:db8::1]:80", "[2001:db8::1]:80", ""},
		{"3221225985:80", "", ReasonRefused}, // 192.0.2.1 to a lenient parser
		{"0xc0000201:80", "", ReasonRefused},
	}
	for _, r := range rows {
		d := p.Decide(mustAuthority(t, r.target))
		want := Deny
		if r.reason == "" {
			want = Allow
		}
		if d.Verdict != want || d.Reason != r.reason || d.Rule != r.rule {
			t.Errorf("%s: %v %q by %q, want %v %q by %q", r.target, d.Verdict, d.Reason, d.Rule, want, r.reason, r.rule)
		}
	}
}

func TestEmptyPolicyDeniesEverything(t *testing.T) {
	a := mustAuthority(t, "example.test:443")
	for name, p := range map[string]*Policy{"nil": nil, "empty": NewPolicy(nil, nil), "zero rule": NewPolicy([]Rule{{}}, nil)} {
		for _, target := range []Authority{a, {}} {
			if d := p.Decide(target); d.Verdict != Deny || d.Reason != ReasonRefused {
				t.Errorf("%s policy: %v %v", name, target, d)
			}
		}
	}
}

// Two phases have two policies: nothing is shared or added up.
func TestPoliciesAreApart(t *testing.T) {
	a, b := mustAuthority(t, "a.test:443"), mustAuthority(t, "b.test:443")
	rules := []Rule{mustRule(t, "a.test", 443)}
	first := NewPolicy(rules, nil)
	rules[0] = mustRule(t, "b.test", 443)
	second := NewPolicy(rules, nil)
	if first.Decide(b).Verdict == Allow || second.Decide(a).Verdict == Allow || first.Decide(a).Verdict == Deny {
		t.Error("policies share rules")
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	p := benchPolicy(t, 100)
	for _, target := range []string{"host50.example.test:443", "a.b.wild3.test:443", "no.such.host.test:443", "192.0.2.9:1"} {
		a := mustAuthority(t, target)
		if n := testing.AllocsPerRun(100, func() { p.Decide(a) }); n != 0 {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
}

func benchPolicy(t testing.TB, n int) *Policy {
	rules := make([]Rule, 0, n)
	for i := range n {
		if i%10 == 3 {
			rules = append(rules, mustRule(t, fmt.Sprintf("*.wild%d.test", i), 443))
		} else {
			rules = append(rules, mustRule(t, fmt.Sprintf("host%d.example.test", i), 443))
		}
	}
	return NewPolicy(rules, []Rule{mustDeny(t, "*.denied.test", 443)})
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		p := benchPolicy(b, n)
		for name, target := range map[string]string{
			"exact": "host5.example.test:443", "wildcard": "a.b.wild3.test:443",
			"refused": "a.b.c.d.e.f.example.org:443", "address": "192.0.2.1:443",
		} {
			a := mustAuthority(b, target)
			b.Run(fmt.Sprintf("rules=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.Decide(a)
				}
			})
		}
	}
}
