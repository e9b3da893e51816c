// Package contain calls functions that the caller did not write: handlers and
// callbacks of a host. Such a function may panic, call [runtime.Goexit], hang,
// or return after its caller stopped waiting. Each of these becomes an error.
//
// The registry calls every foreign function through a [Guard]. The package
// imports nothing of this module.
package contain
