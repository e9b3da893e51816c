package plugins

import "github.com/tenterhook/tenterhook/hook"

// Problem is why a plugin cannot be used: a stable code, and what to do. It is
// the cause of the [*hook.Error] that a call returns.
type Problem struct {
	Code   string // one of the constants below
	Path   string // the plugin, or the file that is wrong
	Reason string // lower case
	Hint   string
	Err    error // what the system said; may be nil
}

// The codes of problems.
const (
	CodeMissing   = "plugin_missing"      // there is no such plugin
	CodeUnsafe    = "plugin_unsafe"       // no regular executable, or others can write it
	CodeUntrusted = "plugin_untrusted"    // it is not approved
	CodeChanged   = "plugin_changed"      // it is not what was approved
	CodeApprovals = "plugin_approvals"    // the approvals cannot be relied on
	CodeState     = "plugin_state"        // the state folder cannot be used
	CodeManifest  = "plugin_toml"         // plugin.toml cannot be read
	CodeNew       = "not_described"       // it was not asked yet what hooks it has
	CodeDescribe  = "plugin_describe"     // what it says of itself cannot be used
	CodeStart     = "plugin_start"        // the system did not start it
	CodeExited    = "handshake_exited"    // it ended before the handshake
	CodeSilent    = "handshake_silent"    // it did not shake hands in time
	CodeGarbage   = "handshake_garbage"   // its first line is no handshake
	CodeVersion   = "handshake_version"   // it speaks another version
	CodeAddress   = "handshake_address"   // it listens where it must not
	CodeUnsecured = "handshake_unsecured" // it showed no certificate where one is needed
	CodeUnhealthy = "plugin_unhealthy"    // it does not answer, or says that it cannot work
	CodeBackoff   = "plugin_backoff"      // it failed too often of late to be started now
	CodeClosed    = "plugin_host_closed"  // the host is closed
	CodeSandbox   = "plugin_sandbox"      // its sandbox cannot be enforced
	CodeHook      = "plugin_hook"         // it has no such hook
)

// Error returns "path: reason (hint)".
func (p *Problem) Error() string { return p.Diagnostic().String() }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Diagnostic is the problem as `check` lists it.
func (p *Problem) Diagnostic() hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityError, Code: p.Code, Path: p.Path, Message: p.Reason, Hint: p.Hint}
}

// failure is the problem as the end of a call.
func (p *Problem) failure() *hook.Error {
	reason := p.Reason
	if p.Path != "" {
		reason = p.Path + ": " + reason
	}
	failure := hook.FailureStart
	if p.Code == CodeSandbox {
		failure = hook.FailureSandbox
	}
	return &hook.Error{Failure: failure, Reason: reason, Hint: p.Hint, Err: p}
}

// about is a problem of the system with a path.
func about(code, path string, err error, hint string) *Problem {
	return &Problem{Code: code, Path: path, Reason: bare(err), Hint: hint, Err: err}
}
