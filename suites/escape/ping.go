package escape

import (
	"context"
	"os"
	"strconv"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// ping tries the ways that carry no port: the witness is the kernel of the far
// side, which counts the echo requests it gets.
func ping(ctx context.Context, t *kit.T, w way) {
	if w.network == "raw" {
		// Elsewhere nobody may make a raw socket, inside or outside.
		t.RequireHost(catalog.HostRoot)
	}
	echo := attempt.Attempt{Op: attempt.OpDial, Network: w.network, Address: w.host, Data: []byte("ping")}
	before := echoRequests(t)
	outside := t.Outside(ctx)
	t.Control("an echo request goes out outside", outside.Do(ctx, echo), kit.Succeed())
	t.Await(ctx, "the host's count of it", func() bool { return echoRequests(t) > before })

	agent := t.Start(ctx, subject.Spec{}).Agent
	before = echoRequests(t)
	t.Attempt("the same from the sandbox", agent.Do(ctx, echo), kit.HaveErrno(w.errnos...))
	// One more from outside stands behind whatever came from the sandbox.
	outside.Do(ctx, echo)
	t.Await(ctx, "the host's count of the last one", func() bool { return echoRequests(t) > before })
	t.FarSide("echo requests the host got since, but for the last", echoRequests(t)-before-1, kit.BeNone())
}

// echoRequests is the lab's own count of ICMP echo requests, both families; see
// proc_pid_net(5) and RFC 4293.
func echoRequests(t *kit.T) int {
	total := 0
	for file, heading := range map[string]string{"/proc/net/snmp": "Icmp:", "/proc/net/snmp6": ""} {
		raw, err := os.ReadFile(file)
		if err != nil && heading != "" {
			t.Fatal("count echo requests: %v", err)
		}
		total += counter(string(raw), heading)
	}
	return total
}

// counter reads InEchos of a table of two lines with a heading, or
// Icmp6InEchos of one with a name and a number a line.
func counter(table, heading string) int {
	var names []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		switch {
		case heading == "" && len(fields) == 2 && fields[0] == "Icmp6InEchos":
			n, _ := strconv.Atoi(fields[1])
			return n
		case heading == "" || len(fields) == 0 || fields[0] != heading:
		case names == nil:
			names = fields
		default:
			for i, name := range names {
				if name == "InEchos" && i < len(fields) {
					n, _ := strconv.Atoi(fields[i])
					return n
				}
			}
		}
	}
	return 0
}
