package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
)

// Prewarmer is a handler whose hooks need something that takes time to start: a
// plugin's process, an MCP server. Prewarm starts what a hook needs, and returns
// when that stands or has failed, or at the end of ctx. It may be called for
// many hooks at once.
type Prewarmer interface {
	Prewarm(ctx context.Context, h *hook.Hook) error
}

// Prewarm starts what ready hooks need, side by side, so that their first
// dispatch does not wait for it; without it the first dispatch does. It returns
// when all stands or has failed, or at the end of ctx. The error joins what
// failed, in configuration order, each with its hook's ID; it is tried again when
// it is needed. ErrClosed = the registry is closed.
func (r *Registry) Prewarm(ctx context.Context) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.done, cancel)()
	entries := r.entries()
	failed := make([]error, len(entries))
	var all sync.WaitGroup
	for i, e := range entries {
		p, ok := r.handlers[e.hook.Kind].(Prewarmer)
		if !ok || r.status(e, nil).state != hook.StateReady {
			continue
		}
		all.Go(func() {
			var problem error
			err := new(contain.Guard).Call(ctx, handlerGrace, func() { problem = p.Prewarm(ctx, e.hook) })
			if err == nil {
				err = problem
			}
			if err != nil {
				failed[i] = fmt.Errorf("%s: %w", e.hook.ID, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}
