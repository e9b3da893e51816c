package selection

import (
	"context"

	"github.com/tenterhook/tenterhook/internal/environ"
)

// Caller is registry.Caller.
type Caller struct {
	Env    []string
	Umask  *int
	Within []string
}

// WithCaller returns a context whose dispatches are on behalf of a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, &c)
}

// callerKey is what a context holds a caller by.
type callerKey struct{}

// CallerOf returns the caller that WithCaller set, nil = none.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// lookup reads the caller's environment; nil = that of the registry counts.
func (c *Caller) lookup() func(string) (string, bool) {
	if c == nil || c.Env == nil {
		return nil
	}
	return func(name string) (string, bool) { return environ.Lookup(c.Env, name) }
}

// Below reports whether a hook caused the event, which may wait for the answer.
func (c *Caller) Below() bool { return c != nil && len(c.Within) > 0 }

// getenv returns a variable of the caller's environment, "" if there is none.
func (c *Caller) getenv(name string) string { return environ.Get(c.Environ(), name) }

// Environ is the caller's environment; nil = that of the registry counts.
func (c *Caller) Environ() []string {
	if c == nil {
		return nil
	}
	return c.Env
}
