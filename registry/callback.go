package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
)

// On registers a Go function for an event, which its input type names. It runs
// after all hooks from files, in the order of registration, and is not stopped
// by disabled hooks or --no-hooks. Configure it with functions that change the
// hook before it is registered:
//
//	registry.On(reg, "audit", audit, func(h *hook.Hook) { h.Matcher = "Bash" })
func On[In hook.Input](r *Registry, name string, fn func(context.Context, In) (*hook.Output, error), configure ...func(*hook.Hook)) error {
	return r.Register(callbackHook(name, fn, configure))
}

// OnSession is On for one session: the function leaves with it. A host without
// a person takes no such functions: they are unsupported there.
func OnSession[In hook.Input](r *Registry, session, name string, fn func(context.Context, In) (*hook.Output, error), configure ...func(*hook.Hook)) error {
	return r.RegisterSession(session, callbackHook(name, fn, configure))
}

func callbackHook[In hook.Input](name string, fn func(context.Context, In) (*hook.Output, error), configure []func(*hook.Hook)) *hook.Hook {
	var zero In
	h := &hook.Hook{Name: name, Event: zero.Event(), Handler: hook.HandlerFunc(
		func(ctx context.Context, c *hook.Call) (*hook.Output, error) {
			in, ok := hook.As[In](c.Input)
			if !ok {
				return nil, hook.Errorf(hook.FailureStart, "it takes %T, the event brought %T", in, c.Input)
			}
			return fn(ctx, in)
		})}
	for _, change := range configure {
		change(h)
	}
	return h
}

// Register adds an in-process hook, for good. It needs a Name, an Event and a
// Handler, unless it is a rule; the registry sets its ID, Kind and Scope. It fails on a name that is
// taken and on a closed registry.
func (r *Registry) Register(h *hook.Hook) error {
	h, err := inProcessHook(h, hook.KindCallback, hook.ScopeInProcess)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	for _, e := range r.inProc {
		if e.hook.ID == h.ID && e.hook.Event == h.Event {
			return fmt.Errorf("hook %s is already registered for %s: give it another name", h.ID, h.Event)
		}
	}
	h.Source.Line = len(r.inProc) + 1 // the order of registration
	r.inProc = append(r.inProc, r.prepare(&r.snap.Load().policy, h))
	r.swap(r.snap.Load().generation)
	return nil
}

// RegisterSession adds a hook for one session. It fails as Register does.
func (r *Registry) RegisterSession(session string, h *hook.Hook) error {
	h, err := inProcessHook(h, hook.KindFunction, hook.ScopeSession)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	next := r.sessions.Load().clone()
	for _, e := range next.hooks[session] {
		if e.hook.ID == h.ID && e.hook.Event == h.Event {
			return fmt.Errorf("hook %s is already registered for %s in this session: give it another name", h.ID, h.Event)
		}
	}
	h.Source.Line = len(next.hooks[session]) + 1
	next.hooks[session] = append(slices.Clip(next.hooks[session]), r.prepare(&r.snap.Load().policy, h))
	r.sessions.Store(next)
	return nil
}

// EndSession removes a session's hooks and what is remembered of it. A
// SessionEnd event does so too, once its hooks have run.
func (r *Registry) EndSession(session string) {
	r.mu.Lock()
	if now := r.sessions.Load(); now != nil && now.hooks[session] != nil {
		next := now.clone()
		delete(next.hooks, session)
		r.sessions.Store(next)
	}
	r.pins.sessions.Remove(session)
	r.mu.Unlock()
	r.forget(session)
}

func inProcessHook(h *hook.Hook, kind hook.Kind, scope hook.Scope) (*hook.Hook, error) {
	if h.Name == "" || h.Event == "" || h.Handler == nil && !h.Kind.Info().Instant {
		return nil, fmt.Errorf("an in-process hook needs a name, an event and a handler, got %q, %q, %T", h.Name, h.Event, h.Handler)
	}
	own := *h
	own.Kind, own.Scope = cmp.Or(own.Kind, kind), scope
	own.ID = scope.String() + "/" + own.Name
	return &own, nil
}
