package dispatch

import (
	"context"
	"fmt"
	"sync/atomic"
)

// maxNested is how deep dispatches may nest: a hook that dispatches the event
// that it listens to would never end.
const maxNested = 8

// current is a dispatch under way, as the handlers that it calls carry it in
// their contexts. A handler that dispatches with that context makes a nested
// dispatch: it must not wait for what the outer one holds.
type current struct {
	r     *Dispatcher
	id    uint64
	depth int
	over  atomic.Bool // the dispatch has ended, though its context lives on
	once  *onceKey    // what the handler runs for; nil = no hook that runs once
	outer *current
}

type dispatchKey struct{}

// dispatchOf is the innermost dispatch that ctx belongs to; nil = none.
func dispatchOf(ctx context.Context) *current {
	c, _ := ctx.Value(dispatchKey{}).(*current)
	return c
}

var dispatches atomic.Uint64

// nest begins a dispatch of r, and reports whether it is a nested one. It fails
// on a dispatch that is nested too deep.
func (r *Dispatcher) nest(ctx context.Context) (d *current, nested bool, err error) {
	outer := dispatchOf(ctx)
	d = &current{r: r, id: dispatches.Add(1), outer: outer}
	if outer != nil {
		d.depth = outer.depth + 1
	}
	if d.depth > maxNested {
		return nil, false, fmt.Errorf("hooks dispatch events from within hooks %d deep: let a hook not dispatch the event that it listens to", maxNested)
	}
	return d, outer.under(r), nil
}

// in makes ctx one within the dispatch.
func (c *current) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, dispatchKey{}, c)
}

func (c *current) end() { c.over.Store(true) }

// under reports whether the dispatch is one of r, or within one, that is under way.
func (c *current) under(r *Dispatcher) bool {
	for ; c != nil; c = c.outer {
		if c.r == r && !c.over.Load() {
			return true
		}
	}
	return false
}

// running reports whether the dispatch is made by the run of a hook that runs once.
func (c *current) running(key onceKey) bool {
	for ; c != nil; c = c.outer {
		if c.once != nil && *c.once == key {
			return true
		}
	}
	return false
}

// number tells dispatches apart; 0 = a hook runs in the background.
func (c *current) number() uint64 {
	if c == nil {
		return 0
	}
	return c.id
}
