// Package policy brings signed documents to machines: from a file, or from a hub.
//
// Stage: beside the registry. It puts documents into the store of a machine, where
// a registry finds them; which documents count, package fleetpolicy says. Each that
// is refused, and each that comes into force, leaves a record in the journal.
// Package cli uses it, for commands and for the agent.
package policy
