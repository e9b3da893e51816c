// Package agent is what runs on a machine of a fleet beside its registries: it ships
// the journal, and says how it does.
//
// Stage: between a machine and its hub. A [Part] adds what else belongs there, such
// as the policy. No decision waits for an agent: registries read files, and append
// to a spool.
package agent
