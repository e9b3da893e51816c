// Package agents puts tenterhook into the configuration of agents, takes it out
// again, and finds out whether it is still in effect.
//
// Stage: outside the pipeline, for an operator. The command imports it; of this
// module it imports bridge and hook.
//
// Where an agent reads a file of our own, one is written. Elsewhere a shared file
// is edited as text: only bytes are added, at the end of what is there, so that
// comments, order, indentation, line breaks and mode stay. A file that its agent
// cannot parse is refused. Each change leaves a backup and a receipt in the state
// directory; taking an entry out restores the exact bytes if no other program changed
// the file, and else removes the entries that are ours.
package agents
