package subject_test

import (
	"strings"
	"testing"

	"bridgecheck/suites/subject"
)

const at = `{"time":"2026-01-02T03:04:05Z","event":`

func TestValidateEvent(t *testing.T) {
	for line, says := range map[string]string{
		at + `"mode","mode":"connect","level":"isolated","reason":"every server declares its hosts","layers":{"netns":"on"}}`:   "",
		at + `"server-progress","server":"jira","took_ms":0}`:                                                                   "",
		at + `"server-started","server":"jira","took_ms":12,"socket":"/run/x","port":4000}`:                                     "",
		at + `"ready","doors":[{"server":"jira","kind":"proxy","transport":"http","url":"http://jira/"}],"v4":true,"v6":false}`: "",
		at + `"decision","target":"a.test:443","verdict":"allow","dialled":"192.0.2.1:443"}`:                                    "",
		at + `"decision","target":"a.test:443","verdict":"deny","reason":"not-listed"}`:                                         "",
		at + `"server-exited","server":"jira","code":0}`:                                                                        "",
		at + `"server-exited","server":"jira","signal":"SIGKILL","stderr_tail":"x"}`:                                            "",
		at + `"server-unhealthy","server":"jira","reason":"hung"}`:                                                              "",
		at + `"server-stopped","server":"jira","how":"eof","took_ms":1}`:                                                        "",
		at + `"unsupported","field":"seccomp"}`:                                                                                 "",
		at + `"error","stage":"netns","reason":"x","errno":"EPERM","causes":["y"]}`:                                             "",
		at + `"exit","code":0,"reason":"agent"}`:                                                                                "",

		at + `"mode","mode":"connect","level":"isolated"}`:                                 `"reason"`,
		at + `"mode","mode":"open","level":"isolated","reason":"x"}`:                       "enum",
		at + `"mode","mode":"connect","level":"isolated","reason":"x","verdict":"allow"}`:  "verdict",
		at + `"mode","mode":"connect","level":"isolated","reason":"x","layers":{"a":"?"}}`: "enum",
		at + `"decision","target":"a.test:443","verdict":"deny"}`:                          `"reason"`,
		at + `"decision","verdict":"allow"}`:                                               `"target"`,
		at + `"exit","reason":"agent"}`:                                                    "oneOf",
		at + `"exit","code":0,"signal":"SIGKILL","reason":"agent"}`:                        "oneOf",
		at + `"exit","code":null,"reason":"agent"}`:                                        "type",
		at + `"server-unhealthy","server":"jira","reason":"sleepy"}`:                       "enum",
		at + `"ready","doors":[],"v4":true}`:                                               `"v6"`,
		at + `"server-started","server":"jira","took_ms":"12"}`:                            "type",
		at + `"party"}`: "unknown",
		at + `"exit","code":0,"reason":"agent","token":"x"}`: "token",
		`{"event":"exit","code":0,"reason":"agent"}`:         "time",
		`{"time":"2026-01-02T03:04:05Z"}`:                    `"event"`,
		`[]`:                                                 "not a JSON object",
		`{`:                                                  "not JSON",
		``:                                                   "not JSON",
		at + `"exit","code":0,"reason":"agent"} {}`: "more than one",
	} {
		check(t, line, subject.ValidateEvent([]byte(line)), says)
	}
}

func check(t *testing.T, line string, err error, says string) {
	t.Helper()
	switch {
	case says == "" && err != nil:
		t.Errorf("%s: %v", line, err)
	case says != "" && err == nil:
		t.Errorf("%s: accepted, want an error that says %s", line, says)
	case says != "" && !strings.Contains(err.Error(), says):
		t.Errorf("%s: %v, want it to say %s", line, err, says)
	}
}

func TestValidateDescription(t *testing.T) {
	const rest = `"versions":{"x":"1"},"limits":{"connections":1,"idle_seconds":1,"head_bytes":1}}`
	for line, says := range map[string]string{
		`{"protocol":1,"name":"x","capabilities":["netns"],` + rest:            "",
		`{"protocol":1,"name":"x","capabilities":[],` + rest:                   "",
		`{"protocol":2,"name":"x","capabilities":["netns"],` + rest:            "const",
		`{"protocol":1,"name":"","capabilities":["netns"],` + rest:             "minLength",
		`{"protocol":1,"name":"x","capabilities":["flying"],` + rest:           "enum",
		`{"protocol":1,"name":"x","capabilities":["netns","netns"],` + rest:    "unique",
		`{"protocol":1,"name":"x","capabilities":null,` + rest:                 "type",
		`{"protocol":1,"name":"x",` + rest:                                     "capabilities",
		`{"protocol":1,"name":"x","capabilities":["netns"],"colour":1,` + rest: "colour",
	} {
		check(t, line, subject.ValidateDescription([]byte(line)), says)
	}
}

func TestValidateSpec(t *testing.T) {
	for line, says := range map[string]string{
		`{}`: "",
		`{"servers":[{"name":"jira","kind":"stdio","command":"x","allowed_hosts":[{"host":"a.test","port":443}]}],"policy":"prefer"}`: "",
		`{"allow":[{"host":"a.test","port":65535}],"agent":{"path":"/bin/true","tty":true}}`:                                          "",
		`{"routes":[{"prefix":"/mcp/jira","server":"jira"}]}`:                                                                         "",
		`{"allow":[{"host":"a.test","port":0}]}`:                                                                                      "minimum",
		`{"allow":[{"host":"a.test","port":65536}]}`:                                                                                  "maximum",
		`{"allow":[{"host":"a.test"}]}`:                                                                                               "port",
		`{"servers":[{"kind":"stdio"}]}`:                                                                                              "name",
		`{"policy":"maybe"}`:                                                                                                          "enum",
		`{"proxy":{"refuse_status":200}}`:                                                                                             "enum",
		`{"routes":[{"prefix":"/x","server":"a","url":"http://a.test/"}]}`:                                                            "oneOf",
		`{"routes":[{"prefix":"/x"}]}`:                                                                                                "oneOf",
		`{"colour":"red"}`:                                                                                                            "colour",
	} {
		check(t, line, subject.ValidateSpec([]byte(line)), says)
	}
}

func TestValidateControl(t *testing.T) {
	for line, says := range map[string]string{
		`{"id":1,"op":"start","name":"jira"}`: "",
		`{"id":1,"op":"stop-all"}`:            "",
		`{"id":1,"op":"stop"}`:                "name",
		`{"id":1,"op":"dance"}`:               "enum",
		`{"op":"quit"}`:                       "id",
	} {
		check(t, line, subject.ValidateCommand([]byte(line)), says)
	}
	for line, says := range map[string]string{
		`{"id":1,"ok":true,"how":"eof","took_ms":3}`:                                    "",
		`{"id":1,"ok":false,"reason":"timeout","detail":"x"}`:                           "",
		`{"id":1,"ok":true,"results":[{"name":"a","ok":false,"reason":"stop-failed"}]}`: "",
		`{"id":1,"ok":false}`: "reason",
		`{"id":1,"ok":true,"results":[{"name":"a","ok":false}]}`: "reason",
		`{"id":1,"ok":false,"reason":"mood"}`:                    "enum",
		`{"ok":true}`:                                            "id",
	} {
		check(t, line, subject.ValidateReply([]byte(line)), says)
	}
}
