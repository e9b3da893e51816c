package trust

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/tenterhook/tenterhook/hook"
)

// Problem is why something cannot be trusted, approved or recorded: the error
// of this package wherever a file is to blame.
type Problem struct {
	Code   string // stable: "not_owned", "link_escapes", …
	Path   string
	Reason string // lower case; a predicate of the path
	Remedy string
}

// The codes of problems.
const (
	CodeNotOwned    = "not_owned"          // others own it, or can write it
	CodeUnreadable  = "unreadable"         // it cannot be read, or written
	CodeNotAFile    = "not_a_file"         // a pipe, a device, a socket
	CodeEscapes     = "link_escapes"       // a link leads where nothing is bound
	CodeTooLarge    = "too_large"          // more files or bytes than are bound
	CodeChanging    = "changing"           // it changes while it is read
	CodeDamaged     = "store_damaged"      // not what a store writes
	CodeNewer       = "store_newer"        // written by a later version
	CodeBusy        = "store_busy"         // another process does not let go of it
	CodeReadOnly    = "store_read_only"    // a file that was handed in
	CodeInWorkspace = "store_in_workspace" // its own workspace could have written it
	CodeDefinition  = "definition_opaque"  // a definition cannot be bound
	CodeUnbound     = "unbound"            // not all files of a command can be located
)

// Error is the path and what is wrong with it.
func (p *Problem) Error() string { return fmt.Sprintf("%s %s", show(p.Path), p.Reason) }

// Diagnostic tells the problem as the registry and the command line do.
func (p *Problem) Diagnostic() hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityError, Code: p.Code, Path: p.Path, Message: p.Error(), Hint: p.Remedy}
}

// asProblem makes a Problem of any error about path.
func asProblem(path string, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Problem{CodeUnreadable, path, "is not there", "restore it"}
	}
	reason := err.Error()
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		reason = pathErr.Err.Error()
	}
	return &Problem{CodeUnreadable, path, "cannot be read: " + reason, "let the user who runs the agent read it"}
}
