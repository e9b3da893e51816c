package process

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// Cause is why a program did not start, for callers that branch on it.
type Cause string

// The causes of a failed start.
const (
	CauseNotFound      Cause = "not_found"      // there is no such program
	CauseNotExecutable Cause = "not_executable" // its mode, or its file system, forbids it to run
	CauseDirectory     Cause = "directory"      // it is a directory, or otherwise no regular file
	CauseInterpreter   Cause = "interpreter"    // what its first line names does not exist
	CauseCRLF          Cause = "crlf"           // its first line ends in CR LF
	CauseFormat        Cause = "format"         // neither a script with a first line nor a program for this machine
	CauseSpace         Cause = "space"          // its path has a space that the command line does not quote
	CauseBusy          Cause = "busy"           // it is being written
	CauseWorkingDir    Cause = "working_dir"    // the directory to run it in is missing
	CauseTooBig        Cause = "too_big"        // arguments and environment are too long
	CauseResources     Cause = "resources"      // no more processes, descriptors or memory
	CauseSandbox       Cause = "sandbox"        // its sandbox cannot be enforced
	CauseSpec          Cause = "spec"           // the Spec can not be run
	CauseOther         Cause = "other"
)

// Diagnosis says why a program did not start, and what to do about it.
type Diagnosis struct {
	Cause  Cause
	Path   string // the program it is about, as far as that is known
	Reason string
	Remedy string
}

// String returns reason and remedy in one line.
func (d Diagnosis) String() string { return d.Reason + ": " + d.Remedy }

// StartError is the error of a child that could not be started.
type StartError struct {
	Diagnosis
	Err error // what the system said; nil if it was not asked
}

func (e *StartError) Error() string { return "start " + quote(e.Path) + ": " + e.String() }

// Unwrap returns what the system said.
func (e *StartError) Unwrap() error { return e.Err }

// startError diagnoses what the system said to a start.
func startError(s *Spec, err error) error {
	return &StartError{Diagnosis: diagnose(s, err), Err: err}
}

func diagnose(s *Spec, err error) Diagnosis {
	say := func(c Cause, reason, remedy string) Diagnosis { return Diagnosis{c, s.Path, reason, remedy} }
	var box *sandbox.Error
	var known *StartError
	switch {
	case errors.As(err, &known):
		return known.Diagnosis
	case errors.As(err, &box):
		return say(CauseSandbox, box.Error(), box.Remedy())
	case errors.Is(err, syscall.ETXTBSY):
		return busy(s.Path)
	case errors.Is(err, syscall.E2BIG):
		return say(CauseTooBig, "its arguments and environment are too long for the system", "pass what is long on stdin")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return say(CauseResources, "too many open files", "raise the limit (ulimit -n), or run less at once")
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return say(CauseResources, "the system has no room for another process", "raise the limit (ulimit -u), or run less at once")
	}
	if s.Dir != "" {
		if fi, statErr := os.Stat(s.Dir); statErr != nil || !fi.IsDir() {
			return Diagnosis{CauseWorkingDir, s.Path, "its working directory " + quote(s.Dir) + " is no directory that can be entered",
				"create it, or run the command in another one"}
		}
	}
	if d, ok := inspect(s.Path, s.Env); ok {
		return d
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return say(CauseNotExecutable, "the system refuses to execute it, although its mode allows it",
			"look for a file system mounted noexec, or a security policy")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOEXEC):
		return say(CauseFormat, "it is no program that this machine can run",
			"build it for this system, and check that the loader it needs is installed")
	}
	return say(CauseOther, err.Error(), "try to run it by hand, as the same user")
}

func busy(path string) Diagnosis {
	return Diagnosis{CauseBusy, path, "another process is writing it",
		"install programs under another name and rename them into place"}
}
