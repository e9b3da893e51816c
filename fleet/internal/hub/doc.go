// Package hub is where the machines of a fleet meet: an embedded NATS server with
// JetStream, who may do what on it, and how everybody else connects to it.
//
// Stage: the middle of a fleet. A [Dir] keeps the keys of a hub, the tokens that
// were given out and the credentials that were minted; [Dir.Start] runs the server.
// A [Connection] is the file that a machine, a worker or an operator keeps: where
// the hub is and who they are. [Connection.Connect] is the one way to a hub,
// embedded or not.
//
// Machines and workers are in NATS accounts of their own, and reach the streams of
// the hub's account through imports alone. Permissions of a user bind the subjects
// that it publishes to, and not the subject that it names for the answer: in one
// account a machine could have an answer of JetStream stored as the policy, or in
// the audit of another machine. An answer does not leave the account of who asked.
// So a message below policy that a machine receives is a hint that the policy
// changed: read the policy itself with a direct get, and believe signatures alone.
package hub
