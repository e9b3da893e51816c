// Package selection prepares hooks and selects the ones that an input concerns.
//
// Stage: between what was loaded and the dispatch. Package registry imports it and
// runs what is selected. [Hooks.Arrange] makes a generation of what package load
// read: matchers, rules, limits and states. [Hooks.Publish] swaps it in at once.
// [Hooks.Pick] finds the hooks of an input, by event, matcher, `if` and status, and
// lets one of several same hooks run. A session keeps the guards that it
// began with.
package selection
