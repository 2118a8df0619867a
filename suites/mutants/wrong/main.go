// Command wrong is a subject that is wrong in one plausible way, chosen when it
// is linked (-X main.kind=…). It is there to test the harness: none of its ways
// may ever be judged green.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"bridgecheck/suites/subject"
)

// kind is the way to be wrong.
var kind string

// kinds are the ways, with what each does when it is told to run.
var kinds = map[string]func(subject.Spec) int{
	"no-sandbox":      func(s subject.Spec) int { return agent(s).run() },
	"no-agent":        func(subject.Spec) int { return 0 },
	"other-agent":     otherAgent,
	"swallows-output": func(s subject.Spec) int { a := agent(s); a.Stdout = nil; return a.run() },
	"old-answers":     oldAnswers,
	"hangs":           func(subject.Spec) int { time.Sleep(time.Hour); return 0 },
	"crashes":         func(subject.Spec) int { return die(syscall.SIGSEGV) },
	"floods":          floods,
	"other-json":      otherJSON,
	"leaves-early":    leavesEarly,
}

func main() {
	way, ok := kinds[kind]
	switch {
	case !ok:
		fmt.Fprintf(os.Stderr, "wrong: link it with -X main.kind=, one of the ways in main.go\n")
		os.Exit(125)
	case len(os.Args) > 1 && os.Args[1] == "describe":
		describe()
	default:
		os.Exit(way(spec()))
	}
}

// describe claims everything.
func describe() {
	_ = json.NewEncoder(os.Stdout).Encode(subject.Description{
		Protocol: subject.Protocol, Name: "wrong-" + kind, Versions: map[string]string{"wrong": "1"},
		Capabilities: subject.All(), Limits: subject.DeclaredLimits{Connections: 1024, IdleSeconds: 300, HeadBytes: 65536},
	})
}

func spec() subject.Spec {
	var s subject.Spec
	i := slices.Index(os.Args, "--spec")
	if i < 0 || i+1 == len(os.Args) {
		return s
	}
	raw, err := os.ReadFile(os.Args[i+1])
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil || s.Agent == nil {
		os.Exit(125)
	}
	return s
}

type command struct{ *exec.Cmd }

// agent runs the agent of the spec as it is, without a sandbox and without a
// proxy behind the address that it is given.
func agent(s subject.Spec) command {
	cmd := exec.Command(s.Agent.Path, s.Agent.Args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "HTTP_PROXY=http://127.0.0.1:18080")
	return command{cmd}
}

func (c command) run() int {
	_ = c.Run() // the state says it all
	return c.ProcessState.ExitCode()
}

func otherAgent(s subject.Spec) int {
	s.Agent.Path, s.Agent.Args = "/proc/self/exe", []string{"describe"}
	return agent(s).run()
}

// oldAnswers knows what a probe says and says it without one.
func oldAnswers(subject.Spec) int {
	for id := range 100 {
		fmt.Printf(`{"id":%d,"nonce":"","status":403,"facts":{"interfaces":[{"name":"lo","flags":["UP","RUNNING"]}]}}`+"\n", id)
	}
	time.Sleep(time.Second)
	return 0
}

func floods(subject.Spec) int {
	line := strings.Repeat("x", 1<<16) + "\n"
	for range 4096 {
		if _, err := os.Stdout.WriteString(line); err != nil {
			return 1
		}
	}
	return 0
}

func otherJSON(subject.Spec) int {
	fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	fmt.Println(`[1,2,3]`)
	return 0
}

// leavesEarly ends as if all were done, and the agent goes on without it.
func leavesEarly(s subject.Spec) int {
	if agent(s).Start() != nil {
		return 125
	}
	return 0
}

func die(s syscall.Signal) int {
	_ = syscall.Kill(os.Getpid(), s)
	select {}
}
