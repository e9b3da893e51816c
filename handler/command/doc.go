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
package command
