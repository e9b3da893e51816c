package tenterhook

import (
	"context"

	"github.com/tenterhook/tenterhook/registry"
)

// Options configure Open; the zero value loads the standard scopes of the
// current directory.
type Options = registry.Options

// Open loads the hooks of every scope into a registry that can run every kind
// of hook there is. What is wrong with a definition is a diagnostic of the
// registry, not an error. Close the registry when the agent ends.
func Open(ctx context.Context, opts Options) (*registry.Registry, error) {
	return registry.Open(ctx, opts)
}
