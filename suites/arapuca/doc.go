// Package arapuca checks what go-arapuca itself promises its callers (area ARA):
// the errors of its calls, what it leaves behind, its rules and limits. A small
// program beside the subject makes the calls, as any caller would, and tells what
// came of each; in the sandbox runs the probe. What should be is the check's; what
// was read in the library's sources is the hypothesis, told in Why.
package arapuca
