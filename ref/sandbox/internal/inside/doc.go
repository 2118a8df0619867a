// Package inside is the init process of a sandbox: PID 1 of its namespaces,
// the launcher's own binary executed again.
//
// It makes the network usable and the root small while it has capabilities
// over its own namespaces, then restricts one locked thread, reads back on that
// thread what is in force, and reports. Only when the launcher says so does the
// thread fork the agent, which inherits all of it. Afterwards it reaps,
// forwards signals, and reports the agent's end; it ends, and with it every
// process of the sandbox, when the launcher's side of the message pair closes.
package inside
