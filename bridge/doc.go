// Package bridge translates between the agents that have hooks and tenterhook:
// what an agent's hook entry receives becomes a hook.Input, and a hook.Outcome
// becomes that agent's own answer.
//
// Stage: around a dispatch. The daemon and the command import it; of this module
// it imports hook, dialect and its own subpackage closed.
//
// One file describes one agent: its names for events and tools, its payloads, its
// answers, and what it can enforce. What an outcome asks for and the agent cannot
// do becomes the next stricter thing that it can do, and is reported as a [Loss]:
// an ask or a defer becomes a denial, a rewrite that is not enforced becomes a
// denial that names the new input, and context that an event does not take is
// held for the session's next event that takes it. Weaker is never silent.
//
// Inputs carry the canonical names: what a matcher and an `if` rule see is the
// same for every agent. A command hook's payload says both: "agent" names the
// agent, and "native" holds the event, the tool and its input as the agent has
// them, where they differ.
package bridge
