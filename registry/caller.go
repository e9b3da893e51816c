package registry

import (
	"context"

	"github.com/tenterhook/tenterhook/internal/selection"
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

// WithCaller returns a context whose dispatches are on behalf of a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return selection.WithCaller(ctx, selection.Caller(c))
}
