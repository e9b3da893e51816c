package process

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// The defaults of a [Spec], and what is not for the caller to set.
const (
	DefaultGrace  = time.Second
	DefaultOutput = 1 << 20 // bytes, for each of stdout and stderr

	// drainFor is how long output may still come once the leader has exited: enough for a `tee` to
	// flush, too short to be felt.
	drainFor = 100 * time.Millisecond
	// busyFor bounds the retries while a program is still being written.
	busyFor = 2 * time.Second
)

// Spec says what to run. Only Path or Argv is needed.
type Spec struct {
	// Path is the absolute path of the program. Empty: Argv[0]. PATH is never searched.
	Path string
	// Argv holds the arguments, the program's name first. Empty: Path alone.
	Argv []string
	// Dir is the working directory. Empty: the host's.
	Dir string
	// Env is the whole environment, as "key=value": nothing is inherited. The last one of a key
	// counts. [RunVariable] is added.
	Env []string
	// Umask is the child's file mode creation mask. Nil: the host's. Windows has none.
	Umask *int
	// Sandbox says what the child may do. Nil: everything. A policy that this machine cannot enforce is a
	// [*StartError] with [CauseSandbox]. The child's TMPDIR is then a directory of its own, where the policy
	// bounds what may be written.
	Sandbox *sandbox.Policy
	// Stdin is written to the child, which then reads the end. A child that does not read it all
	// is not at fault.
	Stdin []byte
	// Detach, where not nil, is called whenever more of stdout has come, with all that has come so
	// far, which it must not keep. Once it returns a context, Run returns, and the child continues in
	// the background until it ends or that context does: see [Result.Rest].
	Detach func(soFar []byte) context.Context
	// Timeout is how long the child may take from the call of Run on. Zero: for ever.
	Timeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL. Zero: [DefaultGrace]; negative: none.
	Grace time.Duration
	// MaxStdout and MaxStderr cap the outputs, in bytes. Zero: [DefaultOutput]. A child that writes
	// more is stopped.
	MaxStdout, MaxStderr int
}

// Result says how a child ended. The zero value is that of a child that was not started.
type Result struct {
	// Stdout and Stderr are the bytes as they came, at most the cap of each.
	Stdout, Stderr []byte
	// ExitCode is the leader's exit code, or -1 if there is none: it died of a signal, or could
	// not be waited for.
	ExitCode int
	// Signal names the signal that the leader died of, as "SIGKILL". See also [Result.Describe].
	Signal string
	// Started tells that the program was executed.
	Started bool
	// TimedOut and Cancelled tell why the child was stopped: by Spec.Timeout, or by the caller's
	// context (also by that context's own deadline).
	TimedOut, Cancelled bool
	// Overflow names the output that passed its cap: "stdout", "stderr", or empty.
	Overflow string
	// Survivors are processes of this run that were still alive when Run returned.
	Survivors []Process
	// Warnings say, for people, what was untidy although it did not change the result.
	Warnings []string
	// Elapsed is the time that Run took.
	Elapsed time.Duration
	// Rest, if not nil, brings the whole result of a child that continues in the background. The rest
	// of this Result says nothing then.
	Rest <-chan Result
}

// Process names a running process.
type Process struct {
	PID  int
	Name string // the program's short name; as the process chose it, so escape it for a terminal
}

func (p Process) String() string { return fmt.Sprintf("%q (pid %d)", p.Name, p.PID) }

// OK tells that the child ran to its own end with exit code 0.
func (r *Result) OK() bool {
	return r.Started && !r.Stopped() && r.ExitCode == 0
}

// Stopped tells that Run stopped the child.
func (r *Result) Stopped() bool { return r.TimedOut || r.Cancelled || r.Overflow != "" }

// Describe says in a few words how the child ended: "exit code 3", "killed by SIGKILL".
func (r *Result) Describe() string {
	switch {
	case r.TimedOut:
		return fmt.Sprintf("timed out, stopped after %v", r.Elapsed.Round(time.Millisecond))
	case r.Cancelled:
		return "cancelled by the caller"
	case r.Overflow != "":
		return "wrote too much to " + r.Overflow
	case !r.Started:
		return "not started"
	case r.Signal != "":
		return "killed by " + r.Signal
	case r.ExitCode < 0:
		return "ended, but its exit code is not known"
	}
	if name := shellSignal(r.ExitCode); name != "" {
		return fmt.Sprintf("exit code %d: by a shell's convention, a command in it was killed by %s", r.ExitCode, name)
	}
	return fmt.Sprintf("exit code %d", r.ExitCode)
}

// complete checks a spec and fills its defaults in.
func (s Spec) complete() (Spec, error) {
	if s.Path == "" && len(s.Argv) > 0 {
		s.Path = s.Argv[0]
	}
	if len(s.Argv) == 0 {
		s.Argv = []string{s.Path}
	}
	if s.Grace == 0 {
		s.Grace = DefaultGrace
	}
	if s.MaxStdout == 0 {
		s.MaxStdout = DefaultOutput
	}
	if s.MaxStderr == 0 {
		s.MaxStderr = DefaultOutput
	}
	return s, s.fault()
}

// fault says what is wrong with a spec before anything is tried.
func (s *Spec) fault() error {
	bad := func(reason, remedy string) error {
		return &StartError{Diagnosis: Diagnosis{CauseSpec, s.Path, reason, remedy}}
	}
	switch {
	case s.Path == "":
		return bad("no program is named", "give a path or arguments")
	case !filepath.IsAbs(s.Path):
		return bad("the program's path is not absolute", "name the program by its full path")
	case s.Timeout < 0 || s.MaxStdout < 0 || s.MaxStderr < 0:
		return bad("a negative timeout or output cap", "use zero for the default, or a positive value")
	case hasNUL(s.Path, s.Dir) || hasNUL(s.Argv...) || hasNUL(s.Env...):
		return bad("a NUL byte in the path, the arguments or the environment", "remove it: the system can not pass it on")
	}
	return nil
}

func hasNUL(ss ...string) bool {
	for _, s := range ss {
		if strings.IndexByte(s, 0) >= 0 {
			return true
		}
	}
	return false
}
