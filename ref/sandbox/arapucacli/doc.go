// Package arapucacli launches agents by the command line of arapuca:
//
//	arapuca run --allow-host HOST:PORT --seccomp baseline -v PATH:ro … -- COMMAND…
//
// Its own CONNECT proxy leads out of the sandbox. What its options cannot say is
// not claimed: a socket behind the proxy's port, a limit of open files, a process
// namespace without a network of its own. Which options a version has is found by
// asking it.
//
// The agent's variables stand among the arguments of that command line, where every
// user of the host can read them: give it no secret so. Of its own, HOME, PATH, LANG
// and TMPDIR are what arapuca sets, as are the proxy variables.
//
// Two ends of an agent cannot be told apart from others by this command line.
// One that exits with 128 and the number of a signal counts as ended by that
// signal. One that exits with 125 counts as a failure of arapuca's when a line on
// stderr begins with "arapuca:"; every other 125 is the agent's own.
package arapucacli
