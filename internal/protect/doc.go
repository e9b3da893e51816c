// Package protect keeps agents from switching off their own guards: a guard in
// the place of a managed hook denies tool calls that would change tenterhook's
// files, its programs, or the agents' files that hold its entries, and commands
// that would change what tenterhook does.
//
// Stage: dispatch. The daemon and the command register the guard, see
// registry.Options.Guards. It is active once 'tenterhook install' has left a
// receipt.
package protect
