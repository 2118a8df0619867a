package ci_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"bridgecheck/ci"
	"bridgecheck/ci/matrix"
)

const workflowDir = "../.github/workflows"

// workflow is what the rules below look at.
type workflow struct {
	file, text  string
	Name        string            `yaml:"name"`
	On          map[string]any    `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]job    `yaml:"jobs"`
}

type job struct {
	Permissions map[string]string `yaml:"permissions"`
	Timeout     int               `yaml:"timeout-minutes"`
	Uses        string            `yaml:"uses"`
	RunsOn      string            `yaml:"runs-on"`
	Strategy    struct {
		Matrix any `yaml:"matrix"`
	} `yaml:"strategy"`
	Steps []step `yaml:"steps"`
}

type step struct {
	Name string            `yaml:"name"`
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	With map[string]any    `yaml:"with"`
	Env  map[string]string `yaml:"env"`
}

// scripts are the texts of a step that something executes.
func (s step) scripts() []string {
	script, _ := s.With["script"].(string)
	return []string{s.Run, script}
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(workflowDir, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows in %s: %v", workflowDir, err)
	}
	all := map[string]workflow{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w := workflow{file: filepath.Base(path), text: string(data)}
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[w.file] = w
	}
	return all
}

// pinned is an action at a whole commit, with the release it is in a comment.
var pinned = regexp.MustCompile(`^\s*-?\s*uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

func TestActionsArePinned(t *testing.T) {
	for _, w := range workflows(t) {
		for i, line := range strings.Split(w.text, "\n") {
			text := strings.TrimSpace(line)
			if strings.HasPrefix(text, "#") || !strings.HasPrefix(strings.TrimPrefix(text, "- "), "uses:") {
				continue
			}
			if !pinned.MatchString(line) {
				t.Errorf("%s:%d: %s: pin the action to a commit, with its release as a comment", w.file, i+1, text)
			}
		}
	}
}

// writes are the jobs that may write, and what. None of them runs the code of a
// pull request.
var writes = map[string][]string{
	"gate-comment.yml comment": {"pull-requests"},
	"nightly.yml page":         {"issues"},
}

func TestPermissionsAreMinimal(t *testing.T) {
	for _, w := range workflows(t) {
		if w.Permissions == nil || len(w.Permissions) > 0 && !maps.Equal(w.Permissions, map[string]string{"contents": "read"}) {
			t.Errorf("%s: permissions are %v; at the top write {} or contents: read", w.file, w.Permissions)
		}
		for name, j := range w.Jobs {
			for scope, right := range j.Permissions {
				if right == "write" && !slices.Contains(writes[w.file+" "+name], scope) {
					t.Errorf("%s: job %s may write %s", w.file, name, scope)
				}
			}
			if j.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", w.file, name)
			}
		}
		if strings.Contains(w.text, "secrets.") {
			t.Errorf("%s: it uses a secret", w.file)
		}
	}
}

// TestForksAreHarmless: what a stranger wrote runs without rights, and what runs
// with rights takes nothing of a stranger's into a script.
func TestForksAreHarmless(t *testing.T) {
	expression := regexp.MustCompile(`\$\{\{`)
	for _, w := range workflows(t) {
		if _, ok := w.On["pull_request_target"]; ok {
			t.Errorf("%s: pull_request_target runs with the rights of the target", w.file)
		}
		_, afterRun := w.On["workflow_run"]
		for name, j := range w.Jobs {
			for _, s := range j.Steps {
				if afterRun && strings.HasPrefix(s.Uses, "actions/checkout@") {
					t.Errorf("%s: job %s checks code out, and can write", w.file, name)
				}
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
					t.Errorf("%s: job %s leaves the token in the checkout", w.file, name)
				}
				for _, script := range s.scripts() {
					if expression.MatchString(script) {
						t.Errorf("%s: job %s: step %q has an expression in its script; pass it by env", w.file, name, s.Name)
					}
				}
			}
		}
	}
}

func TestGateAndItsComment(t *testing.T) {
	all := workflows(t)
	gate, comment := all["gate.yml"], all["gate-comment.yml"]
	for _, event := range []string{"workflow_call", "pull_request"} {
		if _, ok := gate.On[event]; !ok {
			t.Errorf("gate.yml does not run on %s", event)
		}
	}
	if !strings.Contains(comment.text, "workflows: ["+gate.Name+"]") {
		t.Errorf("gate-comment.yml does not follow %q", gate.Name)
	}
	if name := "name: bridgecheck-gate"; !strings.Contains(gate.text, name) || !strings.Contains(comment.text, name) {
		t.Errorf("the artefact is not %q in both", name)
	}
}

// TestNightlyRunsTheMatrix: the jobs come from the file, by index, and every field
// that the workflow reads is there.
func TestNightlyRunsTheMatrix(t *testing.T) {
	nightly := workflows(t)["nightly.yml"]
	row := nightly.Jobs["row"]
	if row.Strategy.Matrix != "${{ fromJSON(needs.rows.outputs.matrix) }}" {
		t.Errorf("the matrix of nightly.yml is %v", row.Strategy.Matrix)
	}
	if !strings.Contains(nightly.text, "./ci/cmd/matrix -json") || !strings.Contains(nightly.text, `-row "$ROW"`) {
		t.Error("nightly.yml does not list the rows, or does not run one by its index")
	}
	fields := []string{"index", "name", "arch", "selinux", "restricted"} // of a job in ci/cmd/matrix
	for _, m := range regexp.MustCompile(`\bmatrix\.(\w+)`).FindAllStringSubmatch(nightly.text, -1) {
		if !slices.Contains(append(fields, "yaml"), m[1]) {
			t.Errorf("nightly.yml reads matrix.%s, which a row has not", m[1])
		}
	}
}

// TestKubernetesRunsTheMatrix: as many pods as rows, each a row by its index.
func TestKubernetesRunsTheMatrix(t *testing.T) {
	data, err := os.ReadFile("kubernetes/rows.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\n---\n")
	var j struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Spec       struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int    `yaml:"completions"`
			Template       struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Command         []string        `yaml:"command"`
						SecurityContext map[string]bool `yaml:"securityContext"`
					} `yaml:"containers"`
				} `yaml:"spec"`
			} `yaml:"template"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(text), &j); err != nil {
		t.Fatal(err)
	}
	rows, err := matrix.Parse(ci.Matrix)
	if err != nil {
		t.Fatal(err)
	}
	pod := j.Spec.Template.Spec
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Spec.CompletionMode != "Indexed" || pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
		t.Fatalf("it is no Indexed Job of one container: %+v", j)
	}
	if j.Spec.Completions != len(rows) {
		t.Errorf("completions is %d, and the matrix has %d rows", j.Spec.Completions, len(rows))
	}
	c := pod.Containers[0]
	if !c.SecurityContext["privileged"] || !strings.Contains(strings.Join(c.Command, " "), `-row "$JOB_COMPLETION_INDEX"`) {
		t.Errorf("the container is not privileged, or does not run the row of its index: %+v", c)
	}
}

// TestActionlint runs actionlint where there is one.
func TestActionlint(t *testing.T) {
	path, err := exec.LookPath("actionlint")
	if err != nil {
		t.Skip("actionlint is missing; install it with: go install github.com/rhysd/actionlint/cmd/actionlint@latest")
	}
	files, err := filepath.Glob(filepath.Join(workflowDir, "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), path, files...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
