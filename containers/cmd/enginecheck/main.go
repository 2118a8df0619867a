// Command enginecheck prints the container engine that answers and exits 0; it
// exits 1 and says which sockets it asked when none does.
//
//	enginecheck [-wait DURATION] [-pid PID]
//
// With -wait it keeps asking for so long, and with -pid no longer than that
// process lives: ci/engine.sh waits for the daemon it has started with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/containers"
)

// interval is the time between two questions.
const interval = 50 * time.Millisecond

func main() {
	wait := flag.Duration("wait", 0, "how long to keep asking")
	pid := flag.Int("pid", 0, "stop asking when this process has ended")
	flag.Parse()
	engine, err := await(*wait, *pid)
	if err != nil {
		fmt.Fprintln(os.Stderr, "enginecheck:", err)
		os.Exit(1)
	}
	fmt.Println(engine)
}

func await(wait time.Duration, pid int) (containers.Engine, error) {
	ctx := context.Background()
	deadline := time.After(wait)
	again := time.NewTicker(interval)
	defer again.Stop()
	for {
		engine, err := containers.Find(ctx)
		if err == nil {
			return engine, nil
		}
		if pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return engine, fmt.Errorf("process %d has ended: %w", pid, err)
		}
		select {
		case <-deadline:
			return engine, err
		case <-again.C:
		}
	}
}
