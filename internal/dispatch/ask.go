package dispatch

import (
	"context"

	"github.com/tenterhook/tenterhook/hook"
)

// ask runs one hook, a rule at once and any other where there is room for it.
func (d *dispatch) ask(ctx context.Context, s *slot) hook.Result {
	if s.Ruling != nil {
		return d.judge(s)
	}
	if s.Hook.Once {
		return d.askOnce(ctx, s)
	}
	return d.askPlaced(ctx, s)
}

// askOnce runs a hook that runs once a session. It waits for a run of it in
// another dispatch, since that may fail, and takes no place for as long.
func (d *dispatch) askOnce(ctx context.Context, s *slot) hook.Result {
	claim, err := d.r.once.claim(ctx, onceKeyOf(s.Entry, d.in.Common().SessionID), true)
	switch {
	case err != nil:
		return gaveUp(s.Hook, err)
	case claim == nil:
		return hasRun(s.Entry)
	}
	ok := false
	defer func() { claim.settle(ok) }()
	result := d.askPlaced(claim.within(ctx), s)
	ok = consumes(&result)
	return result
}

func gaveUp(h *hook.Hook, err error) hook.Result {
	return hook.Result{Hook: h, Status: hook.StatusCancelled, Reason: "the caller gave up", Err: err}
}

// askPlaced runs a hook where there is room for it.
func (d *dispatch) askPlaced(ctx context.Context, s *slot) hook.Result {
	leave, err := d.place(ctx)
	if err != nil {
		return gaveUp(s.Hook, err)
	}
	defer leave()
	c, failed := d.call(s)
	if failed != nil {
		return *failed
	}
	defer d.listen(c, s.Hook)()
	return d.r.attempt(ctx, s.Entry, c)
}

// answer takes a result. What the hook answered before remains as far as it
// refuses.
func (s *slot) answer(r hook.Result) {
	if s.result.Status != "" {
		before := s.result
		before.Stale, r.Elapsed, r.Earlier = true, r.Elapsed+before.Elapsed, &before
	}
	s.result = r
}

// place waits for a place among the hooks that run side by side. A nested
// dispatch takes none: the hook that waits for it has one.
func (d *dispatch) place(ctx context.Context) (leave func(), err error) {
	if d.nested {
		return func() {}, nil
	}
	select {
	case d.r.parallel <- struct{}{}:
		return func() { <-d.r.parallel }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// call is what the hook's handler gets. It fails where the bytes that were
// approved cannot be had.
func (d *dispatch) call(s *slot) (*hook.Call, *hook.Result) {
	h, err := d.r.hooks.Sealed(s.Entry, s.Seal)
	if err != nil {
		return nil, &hook.Result{Hook: s.Hook, Status: hook.StatusFailed, Failure: hook.FailureUntrusted,
			Reason: "what was approved cannot be run: " + err.Error(), Err: err}
	}
	c := &hook.Call{Hook: h, Run: d.run, Input: d.in, Payload: d.wire, ProjectDir: d.r.opts.Workspace, Dir: d.base.Cwd, Verify: s.Definition.Verify()}
	if d.view.From != nil {
		c.Env, c.Umask, c.Within = d.view.From.Env, d.view.From.Umask, d.view.From.Within
	}
	return c, nil
}
