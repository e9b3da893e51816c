// Package problem is an error with a stable code and a remedy.
//
// Stage: below everything of the fleet. Every package there may return an [Error];
// package cli prints it. It imports nothing.
package problem

// Error is what went wrong and what to do about it.
type Error struct {
	Code    string // stable
	Message string
	Hint    string // "" = none
	Err     error  // why; nil = there is no other error behind it
}

// Error returns the message, without the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap returns why.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error; err is what is behind it, nil = nothing.
func New(code, message, hint string, err error) *Error {
	return &Error{Code: code, Message: message, Hint: hint, Err: err}
}
