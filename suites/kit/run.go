package kit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/dns"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/lab"
	"bridgecheck/suites/report"
	"bridgecheck/suites/subject"
)

// Config is what one shard of a cell is to run.
type Config struct {
	// Subject is the executable under test, as a path inside the lab.
	Subject string `json:"subject"`
	// Probe, FakeMCP and Knob are the fakes' executables, as paths inside the lab.
	Probe   string `json:"probe"`
	FakeMCP string `json:"fake_mcp"`
	Knob    string `json:"knob"`
	// Companion is a program that stands beside the subject, see [T.Companion];
	// empty where there is none.
	Companion string `json:"companion,omitempty"`
	// Tools is the folder that make conformance and make agents fill, as a path
	// inside the lab; empty without one.
	Tools string `json:"tools,omitempty"`
	// Select are the ids of this shard.
	Select []string `json:"select"`
	// Facts is the file written last; evidence goes into folders beside it.
	Facts string      `json:"facts"`
	Cell  report.Cell `json:"cell"`
	// HostNetNS is the machine's own network namespace, where the probe must
	// not act.
	HostNetNS uint64 `json:"host_netns"`
	// Seed orders the checks; the same seed gives the same order.
	Seed int64 `json:"seed"`
	// Patience is how long a stream is watched that must not be ended; 0 is three
	// seconds, which find a limit of one or two.
	Patience time.Duration `json:"patience,omitempty"`
}

// specCap ends a check whose subject stands still. It is far above what any
// check needs: reaching it is a finding, not a measurement.
const specCap = 60 * time.Second

type run struct {
	cfg      Config
	subject  subject.Description
	host     map[catalog.HostFact]string
	lacks    map[catalog.HostFact]string
	dns      *dns.Server
	results  []report.Result
	current  *T
	work     string
	baseline map[int]bool // processes that belong to the lab itself
	out      io.Writer
}

// Run runs the selected checks and writes the facts. An error means that the
// facts are missing or unfinished; a failed check is none.
func Run(ctx context.Context, cfg Config, out io.Writer) error {
	r := &run{cfg: cfg, out: out, work: lab.Root + "/work"}
	var err error
	if r.subject, err = subject.Describe(ctx, cfg.Subject); err != nil {
		return err
	}
	if r.dns, err = dns.Start("127.0.0.1:53"); err != nil {
		return fmt.Errorf("lab: start DNS server: %w", err)
	}
	defer r.dns.Close()
	r.probeHost(ctx)
	if err := os.MkdirAll(filepath.Dir(cfg.Facts), 0o755); err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	r.declare()
	ginkgo.ReportAfterEach(r.after)
	r.baseline = processes()
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.RandomSeed, suite.RandomizeAllSpecs, suite.Timeout = cfg.Seed, false, time.Hour
	reporter.Succinct, reporter.NoColor = true, true
	ginkgo.RunSpecs(&outcome{}, "bridgecheck "+cfg.Cell.Name, suite, reporter)
	return r.writeFacts()
}

// outcome receives Ginkgo's verdict and drops it: the facts are judged instead.
type outcome struct{}

func (*outcome) Fail() {}

// writeFacts is the last thing a shard does: a missing file is an invalid run.
func (r *run) writeFacts() error {
	cell := r.cfg.Cell
	cell.UID, cell.Host = os.Getuid(), r.host
	facts := report.Facts{
		Finished: true, Subject: r.subject, Cell: cell,
		Selected: selected(r.cfg.Select), Results: r.results,
	}
	raw, err := json.MarshalIndent(facts, "", " ")
	if err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	if err := os.WriteFile(r.cfg.Facts+".tmp", raw, 0o644); err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	if err := os.Rename(r.cfg.Facts+".tmp", r.cfg.Facts); err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	return nil
}

// progress prints one line a check.
func (r *run) progress(res report.Result, title string) {
	id := res.ID
	if res.Row != "" {
		id += "." + res.Row
	}
	fmt.Fprintf(r.out, "%-7s %-8s %-26s %6.0f ms  %s\n", res.State, r.cfg.Cell.Name, id, res.TookMS, title)
}
