// Package ancestry tells which processes a process descends from: which agent
// started a hook entry, whether an entry runs below a hook of ours, and whether a
// command was started by an agent. It imports nothing of this module.
package ancestry
