// Package hooktest holds an engine that runs hooks against a suite of
// conformance cases: what an agent built on this module, a host that starts the
// tenterhook command, or another engine altogether must make of a hook's answer.
//
// Stage: none; it looks at the pipeline from outside. Tests import it, those of
// this module and of others, and `tenterhook test`, which runs the cases beside a
// hook. It imports hook and registry, and the cases of testdata/conformance.
//
// # Cases
//
// A case is a txtar archive. Its comment says in prose what holds, and may say in
// a paragraph that begins with "Rule:" where that comes from, as each case of the
// suite does; where this module means to differ from Claude Code, a paragraph that begins
// with "Differs:" says why. A paragraph that begins with "Unix:" says why the case does not hold on Windows.
// Its files are
//
//	hooks/NAME/HOOK.md   the hooks, and their scripts; hooks2/… is a second folder
//	project/…             the workspace
//	event.json           the event, with its hook_event_name
//	schema.json          the JSON Schema of the tool's input
//	options.json         how the host is set up, see [Options]
//	outcome.json         what comes of it, as `tenterhook run --json` prints it
//	selection.json       who runs, as `tenterhook why --json` prints it
//	background.json      what became of the hooks in the background, in order
//	after/…              files as they are in the end, such as after/project/log
//
// A case may fire several events, one after the other: event1.json with
// outcome1.json and selection1.json, event2.json and so on. Where an event has
// no file of its own, the one before is taken again. An event is fired if it or
// one behind it has an outcome, or if the case expects background.json or
// after/…; else it is only asked about. $DIR, $DIR2, $WORK and $HOME stand for
// the case's folders in the event, the options and all that is expected. A file
// that begins with #! is executable.
//
// # Expectations
//
// An expectation is a part of what is printed. Each key given must be there and
// match; null, false, 0 and the empty string, list or object match a key that
// is not there. A list matches a list of as many elements, each in its place.
// Beside a value there can stand an object with one or more of
//
//	{"contains": X}   a text that contains X, or a list with an element that matches X;
//	                  of a list of these, each
//	{"lacks": X}      the opposite
//	{"at_most": 9}    a text of so many characters, a list of so many elements, or fewer
//	{"exactly": X}    X and nothing more: no key that X has not
//
// Files below after/ are compared as a whole, as JSON if their name ends so.
//
// No flag rewrites the expectations of the suite: each follows a rule that
// an author wrote down, not what an engine happened to do. Those beside a hook
// `tenterhook test --update` rewrites, where they do not hold: see [Report].
package hooktest
