// Package hook holds the nouns of tenterhook: events and their inputs, hooks,
// handlers, outputs, results, and the outcome that results merge into.
//
// Stage: none; it is the vocabulary that every stage of the pipeline speaks
// (discover, parse, check, select, dispatch, merge). Every other package of
// the module imports it, and it imports the standard library alone.
//
// Facts about events live in one table (see [Events]): what a matcher tests,
// whether an event can be blocked, what exit code 2 and plain text mean, which
// fields of an answer count. Code asks the table and never switches on names.
package hook
