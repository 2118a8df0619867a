package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bridgecheck/ref/cgroup"
	"bridgecheck/ref/guardian"
	"bridgecheck/ref/sandbox"
)

// codeWeaker is the exit code of doctor on a host that cannot give everything.
const codeWeaker = 1

func doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find out, by doing, which layers this host can give; exit 1 when an agent cannot be isolated with all of them",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			report := withGroups(sandbox.Probe())
			missing := lacking(report)
			if asJSON {
				verdict := struct {
					sandbox.HostReport
					Level   sandbox.Level `json:"level"` // the strongest to be had
					Missing []string      `json:"missing"`
				}{report, report.Level(), missing}
				if err := printJSON(verdict); err != nil {
					return err
				}
			} else {
				printReport(os.Stdout, report, missing)
			}
			if len(missing) > 0 {
				return exitCode(codeWeaker)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// withGroups adds whether control groups can be had; they hold root as well.
func withGroups(report sandbox.HostReport) sandbox.HostReport {
	found := sandbox.Finding{Name: "control groups", OK: true, Detail: "memory and processes"}
	group, err := guardian.OpenGroup(cgroup.Limits{Memory: 1 << 30, PIDs: 100})
	if err == nil {
		err = group.Close()
	}
	if err != nil {
		found.OK, found.Detail, found.Error = false, "", err.Error()
	}
	for i, f := range report.Findings {
		if f.Name == sandbox.TrialPIDs && found.OK {
			report.Findings[i] = sandbox.Finding{Name: f.Name, OK: true}
		}
	}
	report.Findings = append(report.Findings, found)
	return report
}

// lacking are the layers of a phase that asks for nothing special which this
// host does not give.
func lacking(report sandbox.HostReport) []string {
	missing := []string{}
	for _, f := range report.Findings {
		switch f.Name {
		case string(sandbox.Isolated), "landlock", "seccomp":
			if !f.OK {
				missing = append(missing, f.Name)
			}
		}
	}
	return missing
}

// printReport has a line for each thing tried, then each reason that fits what
// is missing, with its fix, once.
func printReport(out io.Writer, report sandbox.HostReport, missing []string) {
	fmt.Fprintf(out, "Linux %s, uid %d\n\n", report.Kernel, report.UID)
	var causes []string
	for _, f := range report.Findings {
		state, detail := "ok", f.Detail
		if !f.OK {
			state, detail = "missing", strings.TrimSpace(f.Error+" "+f.Errno)
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-19s %-8s %s", f.Name, state, detail), " "))
		for _, cause := range f.Causes {
			if !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
	}
	if len(causes) > 0 {
		fmt.Fprintln(out, "\nWhat is missing is so perhaps because")
	}
	for _, cause := range causes {
		fmt.Fprintln(out, "-", cause)
	}
	fmt.Fprintln(out)
	switch level := report.Level(); {
	case len(missing) == 0:
		fmt.Fprintln(out, "An agent can be isolated with every layer here.")
	case level == "":
		fmt.Fprintln(out, "No sandbox can be made here.")
	default:
		fmt.Fprintf(out, "Missing here: %s. A phase is refused; with policy: prefer it runs at level %s\nwithout what is missing, and says so.\n", strings.Join(missing, ", "), level)
	}
}
