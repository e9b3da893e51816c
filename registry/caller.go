package registry

import (
	"context"
	"strings"
)

// Caller is who caused an event, for a host that serves several: the process of
// an agent, say. The zero value is the host itself.
type Caller struct {
	// Env is what hooks inherit and requirements are checked against, as
	// "key=value", in place of Options.Env. An empty list is an empty
	// environment; nil means Options.Env. It must not change while a dispatch
	// uses it.
	Env []string
	// Umask is the file mode creation mask of the commands that run; nil = that
	// of the host. Windows has none.
	Umask *int
	// Within are the IDs of hooks that caused the event themselves, outermost
	// first: an agent that a hook started asks the same host. They are skipped,
	// and commands see them in TENTERHOOK_WITHIN.
	Within []string
}

// callerKey is what a context holds a caller by.
type callerKey struct{}

// WithCaller returns a context whose dispatches are on behalf of a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, &c)
}

// callerOf returns the caller that WithCaller set, nil = none.
func callerOf(ctx context.Context) *Caller {
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

// below reports whether a hook caused the event, which may wait for the answer.
func (c *Caller) below() bool { return c != nil && len(c.Within) > 0 }

// env is the caller's environment; nil = that of the registry counts.
func (c *Caller) env() []string {
	if c == nil {
		return nil
	}
	return c.Env
}
