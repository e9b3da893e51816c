package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/internal/sandbox"
	"golang.org/x/sys/windows"
)

// run runs one child in a job object. There is no polite way to stop it here: Spec.Grace is not used.
func run(ctx context.Context, s *Spec, _ string, deadline time.Time) (Result, error) {
	res := Result{ExitCode: -1}
	if missing := s.Sandbox.Missing(); len(missing) > 0 {
		return res, &sandbox.Error{Missing: missing}
	}
	job, err := newJob()
	if err != nil {
		return res, err
	}
	defer windows.CloseHandle(job) // which ends all that is left in it

	inner := ctx
	if !deadline.IsZero() {
		var cancel context.CancelFunc
		inner, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	inner, stop := context.WithCancel(inner)
	defer stop()

	var tooMuch atomic.Pointer[string]
	overflow := func(name string) {
		tooMuch.CompareAndSwap(nil, &name)
		stop()
	}
	stdout := capped{most: s.MaxStdout, overflow: func() { overflow("stdout") }}
	stderr := capped{most: s.MaxStderr, overflow: func() { overflow("stderr") }}

	cmd, err := command(inner, s)
	if err != nil {
		return res, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(s.Stdin), &stdout, &stderr
	cmd.WaitDelay = drainFor
	cmd.Cancel = func() error {
		if err := windows.TerminateJobObject(job, 1); err != nil {
			return cmd.Process.Kill()
		}
		return cmd.Process.Kill() // it may not be in the job yet
	}
	if err := cmd.Start(); err != nil {
		return res, err
	}
	if err := assign(job, cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return res, fmt.Errorf("it cannot be put into a job: %w", err)
	}
	res.Started = true
	err = cmd.Wait()
	res.Survivors = end(job)
	res.Stdout, res.Stderr = stdout.take(), stderr.take()
	if errors.Is(err, exec.ErrWaitDelay) {
		res.Warnings = append(res.Warnings, "a background process held an output open after the command had ended")
	}
	if cmd.ProcessState != nil {
		res.ExitCode = cmd.ProcessState.ExitCode()
	}
	switch name := tooMuch.Load(); {
	case name != nil:
		res.Overflow = *name
	case ctx.Err() != nil && err != nil:
		res.Cancelled = true
	case inner.Err() != nil && err != nil:
		res.TimedOut = true
	}
	return res, nil
}

// signalName: exit codes here do not tell of signals.
func signalName(int) string { return "" }
