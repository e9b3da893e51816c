package process

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"time"
)

// Run starts a program, hands it its stdin, collects its outputs and waits for its end, then sees to
// it that nothing of it is left.
//
// What the child did is in the Result, also if it failed, timed out or was cancelled. The error is for
// a child that could not be started: a [*StartError], or the context's error if that had ended before.
//
// Run is safe for concurrent use. It occupies one thread of the operating system while the child
// runs, and starts no goroutine. (A leader that does not die of SIGKILL, stuck in the kernel, is
// listed as a survivor, and one goroutine stays to reap it.)
func Run(ctx context.Context, s Spec) (Result, error) {
	began := time.Now()
	s, err := s.complete()
	if err != nil {
		return Result{}, err
	}
	token := newToken()
	s.Env = environment(s.Env, token)
	var deadline time.Time
	if s.Timeout > 0 {
		deadline = began.Add(s.Timeout)
	}
	res, err := runPatiently(ctx, &s, token, deadline)
	res.Elapsed = time.Since(began)
	return res, err
}

// runPatiently runs the child, once more for as long as its program is being written
// (ETXTBSY): an installer, or a fork elsewhere in the host that still holds the file open. The program
// has not run then, so running it again repeats nothing.
func runPatiently(ctx context.Context, s *Spec, token string, deadline time.Time) (Result, error) {
	giveUp := time.Now().Add(patience(s.Timeout))
	for pause := time.Millisecond; ; pause = longer(pause) {
		if ctx.Err() != nil {
			return Result{Cancelled: true}, context.Cause(ctx)
		}
		res, err := run(ctx, s, token, deadline)
		busy := errors.Is(err, syscall.ETXTBSY) || err == nil && shellFoundBusy(s, &res)
		if busy && time.Until(giveUp) > pause && sleep(ctx, pause) {
			continue
		}
		if err == nil {
			return res, nil
		}
		return Result{Cancelled: ctx.Err() != nil}, startError(s, err)
	}
}

// patience returns how long to retry a program that is still being written; has is the caller's own limit, 0 = none.
func patience(has time.Duration) time.Duration {
	if has <= 0 {
		return busyFor
	}
	return min(has, busyFor)
}

// longer is the pause that follows one in which a program was still being written.
func longer(pause time.Duration) time.Duration { return min(2*pause, 50*time.Millisecond) }

// shellFoundBusy tells that a shell could not execute the one program it was to execute because that
// was being written. A command line that may have done something else first is not repeated.
func shellFoundBusy(s *Spec, r *Result) bool {
	line, ok := s.shellLine()
	several := strings.ContainsAny(line, ";|&\n`") || strings.Contains(line, "$(")
	return ok && !several && r.ExitCode == 126 && len(r.Stdout) == 0 &&
		bytes.HasSuffix(bytes.TrimSpace(r.Stderr), []byte("Text file busy")) && bytes.Count(r.Stderr, []byte("\n")) <= 1
}

// sleep pauses, and tells whether the context still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
