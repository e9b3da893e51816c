// Package daemon decides on behalf of agents: one process for each user, which
// the first hook entry starts. It keeps what one process for each event would
// lose: registries, breakers, hooks that run once, the stop guard, workers and
// plugins, and hooks in the background with what they have to say later.
//
// Stage: around bridge and registry. internal/cli runs it; internal/daemon/client
// is the other end of its socket. It imports the root package, registry, bridge,
// hook, discovery and the client.
//
// [Decider] answers one call, and is the same for the daemon and for a process
// that decides alone (--direct). [Run] serves a Decider on a socket.
package daemon
