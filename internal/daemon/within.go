package daemon

import (
	"os"
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
// descend from the process that runs the hook, which runs reports. An agent can
// have another process of ours run a hook of its own. chain begins with the entry
// itself.
func within(env []string, chain []ancestry.Process, runs func(ancestry.Process) bool) []string {
	own := lookup(env, hookVariable)
	if own == "" || len(chain) == 0 || !slices.ContainsFunc(chain[1:], runs) {
		return nil
	}
	var outer []string
	if text := lookup(env, withinVariable); text != "" {
		outer = strings.Split(text, "\n")
	}
	return append(slices.Clip(outer), own)
}

// isSelf reports whether a process is this one: the daemon, which runs the hooks.
func isSelf(p ancestry.Process) bool { return p.PID == os.Getpid() }

// isDirect reports whether a process decides about a call of its own. Where
// arguments are not known, each process of ours may.
func isDirect(p ancestry.Process) bool {
	return ancestry.Ours(p) && (len(p.Argv) < 2 || p.Argv[1] == "bridge")
}
