package process

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// ServiceSpec says what to start. Only Path or Argv is needed.
type ServiceSpec struct {
	// Path, Argv, Dir and Env are as in [Spec].
	Path string
	Argv []string
	Dir  string
	Env  []string
	// Umask is as in [Spec].
	Umask *int
	// Sandbox is as in [Spec].
	Sandbox *sandbox.Policy
	// NoStdin gives the child an empty stdin: the null device.
	NoStdin bool
	// Grace is the time between SIGTERM and SIGKILL. Zero: [DefaultGrace]; negative: none.
	Grace time.Duration
	// Patience is how long a program that is being written is tried again. Zero, or more than that:
	// two seconds.
	Patience time.Duration
	// Stderr, where not nil, gets each line of stderr without its end, cut at 64 KiB. It must not
	// keep the line. It is called from the one goroutine that attends to the child, so it must return
	// soon, and not call Stop. All calls are over when Done is closed.
	Stderr func(line []byte)
}

// Service is a program that was started to stay: a server, or a worker. It is safe for concurrent use.
type Service struct {
	stdin  *os.File // nil: it has none
	stdout *os.File
	pid    int
	stderr stderrLines
	done   chan struct{}
	result Result // written before done is closed
	began  time.Time
	halted atomic.Bool // Stop was called, perhaps before its child noticed that
	keeper             // what attends to it on this system
}

// Start starts a program that stays. Its descriptors are 0, 1 and 2 alone, it leads a process group,
// dies with the host (with its group), and is marked like those of [Run].
//
// The caller that starts a service must Stop it, even if it has ended by itself. Until it ends it occupies one
// thread of the operating system and one goroutine.
//
// The error is a [*StartError].
func Start(s ServiceSpec) (*Service, error) {
	spec, err := Spec{Path: s.Path, Argv: s.Argv, Dir: s.Dir, Env: s.Env, Umask: s.Umask, Sandbox: s.Sandbox, Grace: s.Grace}.complete()
	if err != nil {
		return nil, err
	}
	token := newToken()
	spec.Env = environment(spec.Env, token)
	giveUp := time.Now().Add(patience(s.Patience))
	for pause := time.Millisecond; ; pause = longer(pause) {
		v := &Service{began: time.Now(), done: make(chan struct{})}
		v.stderr.each = s.Stderr
		err := v.start(&spec, token, s.NoStdin)
		if err == nil {
			return v, nil
		}
		if !errors.Is(err, syscall.ETXTBSY) || time.Until(giveUp) <= pause {
			return nil, startError(&spec, err)
		}
		time.Sleep(pause)
	}
}

// Stdin is what the child reads. It is nil with NoStdin. A write fails once the child is gone. A write that
// the child does not take ends by Stop, or by Close from another goroutine.
func (s *Service) Stdin() io.WriteCloser {
	if s.stdin == nil {
		return nil
	}
	return s.stdin
}

// Stdout is what the child writes. It ends once the child closed it or is gone, and by Stop; what the
// child wrote before its end can still be read until Stop. It is an [*os.File], on Unix with deadlines.
func (s *Service) Stdout() io.ReadCloser { return s.stdout }

// PID is the process id of the child, which is also its group's.
func (s *Service) PID() int { return s.pid }

// StderrTail returns the last 8 KiB that the child has written to stderr so far.
func (s *Service) StderrTail() string { return s.stderr.last() }

// Done is closed once the child has ended, by itself or by Stop, and was reaped, its group with it.
func (s *Service) Done() <-chan struct{} { return s.done }

// Result says how the child ended, once Done is closed; Cancelled is that Stop ended it. Its Stdout is
// empty, its Stderr is the tail. Before that it is the result of a child that runs.
func (s *Service) Result() Result {
	select {
	case <-s.done:
		return s.result
	default:
		return Result{ExitCode: -1, Started: true}
	}
}

// Stop ends the child and what it started: it closes stdin, sends SIGTERM to the group, after the grace
// SIGKILL, on Linux also to processes that left the group, and closes stdout. It returns when that is done,
// by Grace + 250 ms. It may be called any number of times, from any goroutine.
func (s *Service) Stop() {
	s.halted.Store(true)
	s.stdin.Close() // of nil, does nothing
	s.halt()
	<-s.done
	s.stdout.Close()
}

// ended makes the result known.
func (s *Service) ended(r Result) {
	s.stderr.end()
	r.Stderr = []byte(s.stderr.last())
	r.Elapsed = time.Since(s.began)
	r.Cancelled = s.halted.Load() // the end of stdin may have been enough
	s.result = r
	s.stdin.Close() // who is writing must not wait for a reader that is gone
	close(s.done)
}
