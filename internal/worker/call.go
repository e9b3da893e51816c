package worker

import (
	"context"
	"errors"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

// call is one call that holds a slot.
type call struct {
	ctx   context.Context
	pool  *Pool
	slot  *slot
	plan  func() (Command, error)
	reply Reply
}

// run sees to a process and exchanges a request and an answer with it. A worker that had ended before it
// could take the request is replaced once.
func (c *call) run(request []byte) error {
	s := c.slot
	for first := true; ; first = false {
		if err := c.ready(); err != nil {
			return err
		}
		if c.ctx.Err() != nil { // nothing was sent: the process may be asked again
			return context.Cause(c.ctx)
		}
		line, err := s.worker.exchange(c.ctx, request)
		c.reply.Stderr += s.worker.stderr.take()
		if errors.Is(err, errGone) && first && s.worker.calls > 0 {
			if err := c.replace(); err != nil {
				return err
			}
			continue
		}
		return c.judge(line, err)
	}
}

// judge takes the end of an exchange down.
func (c *call) judge(line []byte, err error) error {
	s := c.slot
	if s.worker.calls++; s.worker.calls >= c.pool.options.MaxCalls {
		s.worker.spent = true
	}
	if err == nil {
		c.reply.Line = line
		s.pace.Reset()
		return nil
	}
	s.worker.spent = true
	var interrupted *interruptedError
	if errors.As(err, &interrupted) {
		if interrupted.half != "" {
			c.note("it had printed " + interrupted.half + " without a line end")
		}
		return context.Cause(c.ctx)
	}
	s.pace.Ended(spacing, false)
	if errors.Is(err, errGone) || errors.Is(err, errDied) {
		ended := s.worker.ended(c.ctx)
		ended.Row = s.pace.Failed()
		c.reply.Stderr += s.worker.stderr.take() // its last words
		return ended
	}
	return err
}

// ready sees to it that the slot has a process that may be asked.
func (c *call) ready() error {
	s := c.slot
	if s.worker != nil && s.worker.changed() {
		if err := c.stop(); err != nil {
			return err
		}
	}
	if s.worker != nil {
		return nil
	}
	if err := c.pause(); err != nil {
		return err
	}
	cmd, err := c.plan()
	if err != nil {
		return err
	}
	var patience time.Duration
	if deadline, ok := c.ctx.Deadline(); ok {
		patience = max(time.Until(deadline), time.Nanosecond)
	}
	w, err := start(cmd, c.pool.options.Grace, patience)
	if err != nil {
		return err
	}
	if err := c.pool.started(w.service); err != nil {
		return err
	}
	s.worker = w
	return nil
}

// pause waits until a process may be started. A call whose time is up before that fails at once.
func (c *call) pause() error {
	wait := c.slot.pace.Wait()
	if wait <= 0 {
		return nil
	}
	if deadline, ok := c.ctx.Deadline(); ok && time.Until(deadline) < wait {
		return &ExitError{Row: c.slot.pace.Failed(), Pause: wait}
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-c.pool.closing:
		return ErrClosed
	}
}

// replace takes the process that has ended between two calls away.
func (c *call) replace() error {
	how := c.slot.worker.ended(c.ctx).Result
	c.note("it had ended by itself after " + calls(c.slot.worker.calls) + " (" + how.Describe() + "), and was restarted")
	return c.stop()
}

// stop ends the slot's process. Where that takes longer than the call may, the
// pool sees to the rest.
func (c *call) stop() error {
	w := c.slot.worker
	w.spent = true
	c.pool.active.Go(w.service.Stop)
	select {
	case <-w.service.Done():
		c.pool.stop(c.slot)
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

func (c *call) note(s string) { c.reply.Notes = append(c.reply.Notes, s) }

// result is how a process ended, or that it did not.
func result(ctx context.Context, v *process.Service) process.Result {
	select {
	case <-v.Done():
	case <-ctx.Done():
	case <-time.After(lastWords):
	}
	return v.Result()
}
