// Package trace watches a process from outside by ptrace(2) and writes down what
// it asks the kernel and what it is answered, as strace(1) does. It needs no
// program of the host's, and nothing of the process watched: a filter that keeps
// an agent from tracing does not keep its harness from tracing the agent. What
// the permission check of ptrace refuses (Yama, another owner) is an error that
// says so.
package trace
