// Package rule decides about events by what a file declares, without starting
// anything: hooks of kind "rule". A rule needs no program, no PATH, no shell and
// no temporary file, so nothing of that can keep it from deciding.
//
// A rule has conditions, all of which must hold: `if` and `unless` (permission
// rules), touches, reads and writes (path patterns), network, destructive, and
// `when`, a CEL expression. Where they hold it decides deny, ask, allow, warn,
// context or rewrite.
//
// Package registry runs rules that have no expression. Expressions take package
// handler/rule/expr, which the root package adds.
package rule
