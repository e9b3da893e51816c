// Package model runs hooks that ask a language model: prompt hooks, answered
// in one turn, and agent hooks, whose model may look around the workspace
// before it decides.
//
// Stage: dispatch. The registry calls the handler for every hook of the kinds
// "prompt" and "agent"; a host may hand in a [Model] or an [AgentRunner] of
// its own. The root package wires it; nothing else of this module imports it.
//
// What an event carries was written by others (a tool's input, a file, a web
// page), so it reaches the model as data between marks that it cannot forge,
// never as system text. What counts as a verdict is one strict JSON object in
// one place: the structured answer of a prompt hook, the call of the verdict
// tool of an agent. No other text decides, whatever it looks like.
//
// An answer that is missing, cut short, refused or malformed is a failure of
// the hook, never an approval.
package model
