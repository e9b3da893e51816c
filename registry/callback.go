package registry

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
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
	return r.dispatcher.WhileOpen(func() error { return r.hooks.Add(h) })
}

// RegisterSession adds a hook for one session. It fails as Register does.
func (r *Registry) RegisterSession(session string, h *hook.Hook) error {
	h, err := inProcessHook(h, hook.KindFunction, hook.ScopeSession)
	if err != nil {
		return err
	}
	return r.dispatcher.WhileOpen(func() error { return r.hooks.AddToSession(session, h) })
}

// Pin is a guard as a session began with it. Its JSON is for another registry
// to continue with.
type Pin = selection.Pin

// PinSession has a session keep the guards that are loaded now, until it ends: a
// managed, user or named guard that a reload removes, changes or switches off
// still judges the session's events, besides what takes its place. Its word
// counts as far as it refuses or asks, and its failure refuses. So does a guard
// whose script changed: it runs from a copy of its folder, and refuses where there
// is none. The setting self_protection = false ends that.
//
// earlier are the guards that the session had in another process; they count
// where this registry does not know the session. The result are all guards that
// the session has: nil if they are as they were at the last call, and empty if an
// operator lets sessions lose them.
func (r *Registry) PinSession(session string, earlier []Pin) []Pin {
	return r.hooks.PinSession(session, earlier)
}

// EndSession removes a session's hooks and what is remembered of it. A
// SessionEnd event does so too, once its hooks have run.
func (r *Registry) EndSession(session string) {
	r.dispatcher.EndSession(session)
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
