package daemon

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
)

// The variables that a command sees below a hook.
const (
	hookVariable   = "TENTERHOOK_HOOK"   // the hook that runs it
	withinVariable = "TENTERHOOK_WITHIN" // those around that, outermost first, a line each
)

// within returns the hooks below which a hook entry runs: an agent that a hook
// starts asks us again, and a hook that waits for itself would never end. The
// variables alone prove nothing, since an agent can set them: the entry must
// descend from a process of ours, the one that runs the hook. chain begins with
// the entry itself.
func within(env []string, chain []ancestry.Process) []string {
	own := lookup(env, hookVariable)
	if own == "" || len(chain) == 0 || !slices.ContainsFunc(chain[1:], ancestry.Ours) {
		return nil
	}
	var outer []string
	if text := lookup(env, withinVariable); text != "" {
		outer = strings.Split(text, "\n")
	}
	return append(slices.Clip(outer), own)
}
