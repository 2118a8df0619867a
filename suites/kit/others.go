package kit

import (
	"context"

	"github.com/onsi/ginkgo/v2"
	"golang.org/x/sys/unix"
)

// Others are the processes that the agent sees and has not started, as it numbers
// them. Where it shares the lab's PID namespace, those of the harness are left
// out: an attack on them would end the check, not the subject.
func (a *Agent) Others(ctx context.Context) []int {
	ginkgo.GinkgoHelper()
	facts := a.Facts(ctx)
	var own unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &own); err != nil {
		a.t.Fatal("look at the lab's PID namespace: %v", err)
	}
	shared := facts.Namespaces["pid"] == own.Ino
	others := []int{}
	for _, pid := range facts.Processes {
		if pid == facts.PID || shared && (a.t.run.baseline[pid] || a.t.pids[pid]) {
			continue
		}
		others = append(others, pid)
	}
	return others
}
