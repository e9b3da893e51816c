// Package breaker stops calling what keeps failing: a circuit breaker by name.
//
// It is the first half of the dispatch stage: before a hook's handler runs, the
// registry asks the hook's breaker, and afterwards tells it how the call went.
// Only package registry imports it; it imports nothing but the standard library
// and knows nothing of hooks.
//
// # Rules
//
//   - Closed: every call may run. [Settings.Failures] failures in a row open the
//     breaker. A success ends the row; a neutral result leaves it as it is.
//   - Open: no call may run until [Settings.Cooldown] has passed.
//   - Half-open: exactly one call, the probe, may run. Its success closes the
//     breaker, its failure opens it for another full cooldown, and a neutral
//     result lets the next call probe.
//   - A result counts only while the breaker is as it was when the call was
//     allowed: what a call from before the breaker opened has to say is ignored
//     once it has opened, and for good.
//   - A probe that hangs does not hold the breaker for ever. When it has not
//     reported within the longer of [Settings.Cooldown] and
//     [Settings.ProbeTimeout], the next call may probe in its place, and the old
//     probe's result is ignored from then on. As long as no call has taken its
//     place, a late result still counts: it is the best evidence there is.
//
// # Contract
//
// Each permit is reported on once, with [Permit.Done]. Defer [Permit.Release]
// right after [Breaker.Allow], so that a panic or runtime.Goexit in the call
// gives the permit back. That alone counts as neutral: a caller that recovers a
// panic and means it to be a failure reports [Failure] itself.
//
// Refusing is all that a breaker does. What a refused call means (continue, or
// block) is the caller's to decide, and to say.
//
// Time is [time.Now] with its monotonic reading: setting the wall clock neither
// shortens nor lengthens a cooldown, and testing/synctest controls it. No
// goroutine and no timer runs; states change when a caller asks.
package breaker
