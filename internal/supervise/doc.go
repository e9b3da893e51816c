// Package supervise keeps what answers calls running: a plugin, an MCP server, a
// worker.
//
// Stage: dispatch. plugins and handler/mcptool keep a [Unit] for each program or
// server, which starts it, shares it between calls, asks for its health, restarts
// and ends it. internal/worker, where a process serves one call at a time and a
// call starts it itself, uses the [Pace] of restarts.
//
// # What holds
//
//   - A unit has one process. The call that needs it first starts it, and all that
//     need it wait for that start. A start outlives a caller that gives up.
//   - A process that is wanted no more ends with its last call, and another one
//     takes its place at once.
//   - A process is asked for its health after a doubtful call, and before a call
//     that follows a long silence. A process that does not answer is stopped.
//   - A process that ends is started again by the next call. After failures in a
//     row the starts are spaced, and calls fail at once in between. An answer
//     forgives all failures.
//   - Close ends the process, whatever calls are under way.
package supervise
