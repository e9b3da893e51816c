package hook

import (
	"context"
	"errors"
	"fmt"
)

// Handler runs hooks of one kind. Handle is called from many goroutines at
// once. It returns by the end of ctx; a cause of [ErrTimeout] tells the hook's
// own time limit from a caller that gave up. A denial is an Output; an error
// is a hook that did not do its work, an [*Error] where its failure is known.
// A nil Output with a nil error is a hook without an opinion.
type Handler interface {
	Handle(ctx context.Context, c *Call) (*Output, error)
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(ctx context.Context, c *Call) (*Output, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, c *Call) (*Output, error) { return f(ctx, c) }

// Checker is a Handler that can say what is wrong with a hook without running
// it. The call is as Handle may get it, without an input. An error is what
// keeps the hook from running: a script that does not exist, a URL that is not
// allowed. A warning is what may go wrong.
type Checker interface {
	Check(c *Call) []Diagnostic
}

// Call is one run of one hook.
type Call struct {
	Hook       *Hook
	Run        string // names the dispatch for the recorder; "" = nothing records it
	Input      Input
	Payload    []byte // Input as JSON; shared between hooks, so read only
	ProjectDir string // the workspace's root
	Dir        string // the session's working directory

	// Env is the environment of the process that caused the event, as "key=value"; nil =
	// the handler's own. A command inherits it. It is shared, so read only.
	Env []string

	// Umask is the file mode creation mask of the process that caused the event; nil = this
	// process's own. A command inherits it. Windows has none.
	Umask *int

	// Verify, where not nil, judges what is about to be started, immediately
	// before the start and from any goroutine. Nothing is started if it returns an
	// error. It is the registry's word on whether what was approved is still there.
	Verify func(*Program) error

	// Within are the IDs of the hooks that caused the event themselves, outermost
	// first; nil = none did.
	Within []string

	// Progress, where not nil, takes a line about a long run.
	Progress func(line string)

	// Report is for the handler to fill, whatever the end.
	Report Report
}

// Program is what a command comes to in one environment and directory.
type Program struct {
	Path  string   // the executable
	Argv  []string // with the name that it gets as the first
	Dir   string   // the directory that it starts in
	Shell bool     // Path is a shell, and the last of Argv its text

	// Files are what the command names outside of its hook's folder: scripts,
	// programs, data. They are absolute and sorted. A file that is missing at
	// approval must not be there later.
	Files []string
	// Unbound says why the command can run files that are not among them; "" =
	// it cannot, beside what those load in turn.
	Unbound string
}

// Report is what a run leaves behind beside its answer.
type Report struct {
	ExitCode *int   // nil: no process ended by itself
	Stderr   string // the end of it, bounded
	By       string // what decided: a pattern and what it matched, an expression
	Warnings []Diagnostic
}

// Warn adds a warning about the hook of this call.
func (c *Call) Warn(code, message, hint string) {
	c.Report.Warnings = append(c.Report.Warnings, Diagnostic{
		Severity: SeverityWarning, Code: code, Hook: c.Hook.ID,
		Path: c.Hook.Source.Path, Line: c.Hook.Source.Line, Message: message, Hint: hint,
	})
}

// ErrTimeout is the cause of a context that ended because the hook's own time
// was up.
var ErrTimeout = errors.New("the hook's time is up")

// ErrNotConcerned is what a Handler returns for an event that the hook's own
// conditions leave out. Such a hook leaves no result.
var ErrNotConcerned = errors.New("a condition of the hook does not hold")

// Failure is why a hook that should have run did not do its work.
type Failure string

// The failures. The first nine come from running a hook, the last four from
// deciding not to; on a hook with on_failure = "block" each of them blocks.
const (
	FailureStart       Failure = "start"           // it could not be started
	FailureTimeout     Failure = "timeout"         // its time was up
	FailureOverflow    Failure = "output_overflow" // it printed more than is taken
	FailureExit        Failure = "exit"            // it said that it failed
	FailureOutput      Failure = "output"          // its answer cannot be read
	FailureTransport   Failure = "transport"       // the way to it broke
	FailurePanic       Failure = "panic"           // it panicked
	FailureBreakerOpen Failure = "breaker_open"    // it failed too often of late
	FailureSandbox     Failure = "sandbox"         // its sandbox cannot be enforced
	FailureExpression  Failure = "expression"      // an expression of a rule has no value for this event

	FailureUntrusted   Failure = "untrusted"
	FailureIneligible  Failure = "ineligible"
	FailureUnsupported Failure = "unsupported"
	FailureInvalid     Failure = "invalid"
)

// Error is a failed hook: which failure, why, and what to do about it.
type Error struct {
	Failure Failure
	Reason  string // lower case, without the hook's name
	Hint    string
	Err     error // the cause, may be nil
}

// Error returns "failure: reason (hint)".
func (e *Error) Error() string {
	s := string(e.Failure) + ": " + e.Reason
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without a hint; a %w verb sets its cause.
func Errorf(f Failure, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Failure: f, Reason: err.Error(), Err: errors.Unwrap(err)}
}
