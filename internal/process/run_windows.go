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

// child is one child in a job object.
type child struct {
	job            windows.Handle // closing it ends all that is left in it
	cmd            *exec.Cmd
	stdout, stderr capped
	result         Result

	stop        context.CancelFunc // ends the job
	overflow    atomic.Pointer[string]
	timedOut    atomic.Bool
	cancelled   atomic.Bool
	detached    chan struct{}
	unsupervise func() bool // neither the deadline nor the caller's context ends it any more
}

// run runs one child in a job object. There is no polite way to stop it here: Spec.Grace is not used.
func run(ctx context.Context, s *Spec, _ string, deadline time.Time) (Result, error) {
	if missing := s.Sandbox.Missing(); len(missing) > 0 {
		return Result{ExitCode: -1}, &sandbox.Error{Missing: missing}
	}
	c := &child{result: Result{ExitCode: -1}, detached: make(chan struct{})}
	if err := c.start(ctx, s, deadline); err != nil {
		if c.result.Cancelled, c.result.TimedOut = c.cancelled.Load(), c.timedOut.Load(); c.result.Cancelled || c.result.TimedOut {
			return c.result, nil // it was ended while it was being started, which is why that failed
		}
		return c.result, err
	}
	ended := make(chan Result, 1)
	go func() { ended <- c.wait() }()
	select {
	case res := <-ended:
		return res, nil
	case <-c.detached:
		return Result{ExitCode: -1, Started: true, Rest: ended}, nil
	}
}

// start starts the child, and has ctx and the deadline end it.
func (c *child) start(ctx context.Context, s *Spec, deadline time.Time) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.job, c.stop = job, stop
	c.stdout = capped{most: s.MaxStdout, overflow: func() { c.tooMuch("stdout") }}
	c.stderr = capped{most: s.MaxStderr, overflow: func() { c.tooMuch("stderr") }}
	if s.Detach != nil {
		c.stdout.grown = c.detach(s.Detach)
	}
	if c.cmd, err = command(inner, s); err == nil {
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = bytes.NewReader(s.Stdin), &c.stdout, &c.stderr
		c.cmd.WaitDelay = drainFor
		c.cmd.Cancel = func() error {
			windows.TerminateJobObject(job, 1)
			return c.cmd.Process.Kill() // it may not be in the job yet
		}
		c.supervise(ctx, deadline)
		err = c.cmd.Start()
	}
	if err == nil {
		if err = assign(job, c.cmd.Process.Pid); err != nil {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
			err = fmt.Errorf("it cannot be put into a job: %w", err)
		}
	}
	if err != nil {
		c.close()
		return err
	}
	c.result.Started = true
	return nil
}

func (c *child) supervise(ctx context.Context, deadline time.Time) {
	forget := context.AfterFunc(ctx, func() { c.cancelled.Store(true); c.stop() })
	if deadline.IsZero() {
		c.unsupervise = forget
		return
	}
	timer := time.AfterFunc(time.Until(deadline), func() { c.timedOut.Store(true); c.stop() })
	c.unsupervise = func() bool { timer.Stop(); return forget() }
}

func (c *child) tooMuch(output string) {
	c.overflow.CompareAndSwap(nil, &output)
	c.stop()
}

// detach returns what looks at the output so far, and lets the run go once the host says so.
func (c *child) detach(look func([]byte) context.Context) func([]byte) {
	done := false
	return func(soFar []byte) { // by one goroutine, that of stdout
		if done {
			return
		}
		if background := look(soFar); background != nil {
			done = true
			c.unsupervise()
			context.AfterFunc(background, func() { c.cancelled.Store(true); c.stop() })
			close(c.detached)
		}
	}
}

func (c *child) close() {
	if c.unsupervise != nil {
		c.unsupervise()
	}
	c.stop()
	windows.CloseHandle(c.job)
}

// wait waits for the child's end, and ends what is left of it.
func (c *child) wait() Result {
	err := c.cmd.Wait()
	res := c.result
	res.Survivors = end(c.job)
	c.close()
	res.Stdout, res.Stderr = c.stdout.take(), c.stderr.take()
	if errors.Is(err, exec.ErrWaitDelay) {
		res.Warnings = append(res.Warnings, "a background process held an output open after the command had ended")
	}
	if c.cmd.ProcessState != nil {
		res.ExitCode = c.cmd.ProcessState.ExitCode()
	}
	switch name := c.overflow.Load(); {
	case name != nil:
		res.Overflow = *name
	case err == nil:
	case c.cancelled.Load():
		res.Cancelled = true
	case c.timedOut.Load():
		res.TimedOut = true
	}
	return res
}

// signalName: exit codes here do not tell of signals.
func signalName(int) string { return "" }
