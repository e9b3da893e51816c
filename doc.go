// Package tenterhook is a hook framework for AI agents: it discovers hooks in
// scope directories, checks what they need, and asks them at each point of an
// agent's life whether and how to continue.
//
// Stage: all of them; [Open] wires the registry with every handler. An agent
// imports it, or package registry alone where it wants to link less. The nouns
// (events, verdicts, outcomes) are in package hook.
package tenterhook
