// Package dispatch runs the hooks that an input concerns, and merges what they
// answer.
//
// Stage: after the selection. Package registry imports it and hands it the hooks of
// package selection. [Dispatcher.Dispatch] asks hooks in rounds: declared rewriters
// one after the other, all others side by side, and again after a rewrite. Each run
// passes the breaker, the time limit and the containment of its hook. Background
// hooks have a pool. What sessions have used (hooks that run once, blocks of Stop)
// stays between dispatches.
package dispatch
