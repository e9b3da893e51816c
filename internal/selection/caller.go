package selection

import (
	"context"
	"strings"
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
	return func(name string) (string, bool) {
		for i := len(c.Env) - 1; i >= 0; i-- { // a later one replaces an earlier
			if key, value, ok := strings.Cut(c.Env[i], "="); ok && key == name {
				return value, true
			}
		}
		return "", false
	}
}

// Below reports whether a hook caused the event, which may wait for the answer.
func (c *Caller) Below() bool { return c != nil && len(c.Within) > 0 }

// Environ is the caller's environment; nil = that of the registry counts.
func (c *Caller) Environ() []string {
	if c == nil {
		return nil
	}
	return c.Env
}
