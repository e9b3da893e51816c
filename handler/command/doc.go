// Package command runs hooks that are commands: a process that gets the event
// as JSON on standard input and answers on standard output.
//
// Stage: dispatch. The registry calls the handler for every hook of kind
// "command"; a host that builds its own registry may wire it with other
// options.
//
// A command line that provably needs no shell is run without one, which saves
// the larger part of a small hook's cost; everything else is run as `sh -c`.
// The event is never part of a command line.
//
// # Workers
//
// A command with worker = true is started at its first event, and stays. Each
// event is one line of JSON on its stdin, its answer one line on its stdout: the
// JSON that a command would print, or an empty line for no opinion. What is not
// such an answer fails the call and stops the process, as does the hook's
// timeout; the next call starts another one. It has no exit code, no
// CLAUDE_ENV_FILE, and the environment of its start: what differs from event to
// event, the session's directory among it, is in the event. Package
// internal/worker says what holds of its process.
package command
