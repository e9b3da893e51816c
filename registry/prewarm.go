package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/internal/dispatch"
)

// Prewarmer is a handler whose hooks need something that takes time to start: a
// plugin's process, an MCP server. Prewarm starts what a hook needs, and returns
// when that stands or has failed, or at the end of ctx. The call says for which
// hook and which workspace. It may be called for many hooks at once.
type Prewarmer interface {
	Prewarm(ctx context.Context, c *hook.Call) error
}

// Prewarm starts what ready hooks need, side by side, so that their first
// dispatch does not wait for it; without it the first dispatch does. It returns
// when all stands or has failed, or at the end of ctx. The error joins what
// failed, in configuration order, each with its hook's ID; it is tried again when
// it is needed. ErrClosed = the registry is closed.
func (r *Registry) Prewarm(ctx context.Context) error {
	problems, err := r.eachReady(ctx, func(h hook.Handler) func(context.Context, *hook.Call) error {
		if p, ok := h.(Prewarmer); ok {
			return p.Prewarm
		}
		return nil
	})
	for i := range problems {
		err = errors.Join(err, fmt.Errorf("%s: %w", problems[i].Hook.ID, problems[i].Err))
	}
	return err
}

// Prober is a handler that can try whether what a hook needs is reached, without
// a call: a server that a URL names. It may be called for many hooks at once.
type Prober interface {
	Probe(ctx context.Context, h *hook.Hook) error
}

// Unreached is a ready hook that needs something which is not reached.
type Unreached struct {
	Hook *hook.Hook
	Err  error
}

// Probe tries, side by side, whether what ready hooks need is reached: it connects
// to servers, and starts what Prewarm starts. It returns those of which it is not,
// in configuration order, or ErrClosed.
func (r *Registry) Probe(ctx context.Context) ([]Unreached, error) {
	return r.eachReady(ctx, func(h hook.Handler) func(context.Context, *hook.Call) error {
		switch h := h.(type) {
		case Prober:
			return func(ctx context.Context, c *hook.Call) error { return h.Probe(ctx, c.Hook) }
		case Prewarmer:
			return h.Prewarm
		}
		return nil
	})
}

// eachReady calls what choose returns for a handler with each ready hook of its
// kind, side by side; nil = nothing.
func (r *Registry) eachReady(ctx context.Context, choose func(hook.Handler) func(context.Context, *hook.Call) error) ([]Unreached, error) {
	if err := r.dispatcher.Enter(); err != nil {
		return nil, err
	}
	defer r.dispatcher.Leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.dispatcher.Done, cancel)()
	entries := r.hooks.Entries()
	failed := make([]error, len(entries))
	var all sync.WaitGroup
	for i, e := range entries {
		do := choose(r.hooks.Handlers[e.Hook.Kind])
		if do == nil || r.hooks.Status(e, nil).State != hook.StateReady {
			continue
		}
		all.Go(func() {
			var problem error
			err := new(contain.Guard).Call(ctx, dispatch.HandlerGrace, func() { problem = do(ctx, r.hooks.IdleCall(e, nil)) })
			failed[i] = cmp.Or(err, problem)
		})
	}
	all.Wait()
	var list []Unreached
	for i, err := range failed {
		if err != nil {
			list = append(list, Unreached{entries[i].Hook, err})
		}
	}
	return list, nil
}
