// Package sandbox launches an agent behind every layer the host can give, and
// refuses where one that was asked for is missing.
//
// A sandbox is a tree of processes under an init of its own (the caller's
// binary, executed again: see Main) in new user, network, PID, mount, IPC and
// UTS namespaces. Its root holds the declared paths and nothing else; lo is its
// only interface; listeners on its loopback addresses are accepted on by the
// caller, so no process and no socket path of the bridge lies inside. The agent
// has no capability, cannot gain privileges, and runs under Landlock and a
// system call filter. The init reads all of that back before the agent's first
// instruction.
//
// Programs that make namespaces themselves (bwrap, unshare, the inner sandboxes
// of some agents) and debuggers that attach cannot work inside.
//
// Two weaker levels exist for hosts that cannot make the namespaces: what each
// of them loses is told by Sandbox.Layers, never hidden.
package sandbox
