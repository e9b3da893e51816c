package daemon

import (
	"os"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/environ"
)

// The variables that a command sees below a hook.
const (
	hookVariable   = "TENTERHOOK_HOOK"   // the hook that runs it
	withinVariable = "TENTERHOOK_WITHIN" // those around that, outermost first, a line each
)

// within returns the hooks below which a hook entry runs: an agent that a hook
// starts asks us again, and a hook that waits for itself would never end. The
// call's own variables prove nothing, since an agent can set them. The entry must
// descend from the process that runs the hook, which runs reports, and what counts
// is the environment in which that process started the hook. An agent can have
// another process of ours run a hook of its own, or of another home directory.
// chain begins with the entry itself.
func within(call *client.Call, chain []ancestry.Process, runs func(ancestry.Process) bool) []string {
	if len(chain) == 0 {
		return nil
	}
	ours := slices.IndexFunc(chain[1:], runs) + 1
	if ours == 0 {
		return nil
	}
	env := call.Env // where others' environments cannot be read
	for _, p := range slices.Backward(chain[:ours]) {
		if started := ancestry.Environ(p); environ.Get(started, hookVariable) != "" {
			env = started
			break
		}
	}
	own := environ.Get(env, hookVariable)
	if own == "" || placesOf(env) != userOf(call.Env, call.Where).places {
		return nil
	}
	var outer []string
	if text := environ.Get(env, withinVariable); text != "" {
		outer = strings.Split(text, "\n")
	}
	return append(slices.Clip(outer), own)
}

// isSelf reports whether a process is this one: the daemon, which runs the hooks.
func isSelf(p ancestry.Process) bool { return p.PID == os.Getpid() }

// isDirect reports whether a process decides about a call of its own. Where
// arguments are not known, each process of ours may.
func isDirect(p ancestry.Process) bool {
	if !ancestry.Ours(p) {
		return false
	}
	args := p.Args()
	return len(args) < 2 || args[1] == "bridge"
}
