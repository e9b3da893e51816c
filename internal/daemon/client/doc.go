// Package client asks the daemon on behalf of an agent's hook entry. It parses
// neither the payload nor the answer.
//
// Stage: the first step of a bridged call. cmd/tenterhook-bridge is its one
// program; internal/daemon imports it for the frames and for the place of the
// socket. It imports the standard library and bridge/closed alone, and neither
// net nor fmt: an agent waits for this program at each of its tool calls.
//
// A call is one connection:
//
//	client                           daemon
//	call(agent, event, stdin, …) ──▶
//	                             ◀── taken      as soon as the call is read, and each few seconds
//	                             ◀── answer     stdout, stderr, exit code
//
// The daemon answers "replaced" instead if the program beside the client is not
// the program that the daemon runs: it finishes what is under way and makes room.
// An unreachable, silent, foreign or replaced daemon is replaced once. After
// that [closed.Undecided] answers, which blocks where the event is a gate.
package client
