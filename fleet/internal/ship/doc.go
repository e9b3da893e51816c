// Package ship carries the records of a journal to the audit stream of a hub: each
// at least once, in the order of their numbers. The archive drops second copies.
//
// Stage: the agent of a machine, behind the journal. The dispatch of an event knows
// nothing of it. What was not acknowledged stays in the journal, and nowhere else.
package ship
