package registry

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dispatch"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/internal/selection"
	"github.com/tenterhook/tenterhook/trust"
)

// Registry holds the hooks of a host and asks them. All its methods may be
// called at once from many goroutines. Close it when the host ends.
type Registry struct {
	opts       Options
	dispatcher *dispatch.Dispatcher
	hooks      *selection.Hooks

	fleet atomic.Pointer[fleetWatch] // nil = the settings name no fleet

	stores []*trust.Store // the first is the one to approve in
	loader *load.Reader

	reloading sync.Mutex   // orders reloads
	memory    *load.Memory // of the last reload; guarded by reloading
	fresh     freshness    // guarded by reloading
}

// Workspace returns the project's root: an absolute path.
func (r *Registry) Workspace() string { return r.opts.Workspace }

// Close ends the registry: dispatches under way are cancelled, background hooks
// are waited for within Options.DrainTimeout and then ended. It returns an
// error that says how many of them were dropped, and what did not end: a
// function of the host that hangs delays Close for a few seconds, and is left
// behind. A second Close does nothing.
func (r *Registry) Close() error {
	if !r.dispatcher.Stop() {
		return nil
	}
	if r.opts.FS == nil { // a host's own may hang, and is not watched
		r.reloading.Lock()
		r.unwatch()
		r.reloading.Unlock()
	}
	return r.dispatcher.Drain()
}

// Diagnostics tells what loading found worth telling, in order, and which
// functions of the host failed since.
func (r *Registry) Diagnostics() []hook.Diagnostic {
	return slices.Concat(r.hooks.Snap.Load().Diagnostics, r.dispatcher.Host.Failures())
}

// Listed is a hook as `tenterhook list` shows it.
type Listed struct {
	Hook    *hook.Hook
	State   hook.State
	Why     string        // "" if ready and its breaker is not open
	Hint    string        // what to do about it
	Timeout time.Duration // the one in force
	Breaker breaker.Snapshot
	Unbound string // why what it runs may change without a new approval; "" = it may not
}

// List returns every hook in configuration order, with its state as of now.
func (r *Registry) List() []Listed {
	_ = r.keepFleet(r.dispatcher.Done) // it fails for a registry that is closed
	entries := r.hooks.Entries()
	list := make([]Listed, len(entries))
	for i, e := range entries {
		s, _ := r.hooks.Outlook(e, nil)
		l := Listed{Hook: e.Hook, State: s.State, Why: s.Why, Hint: s.Hint, Breaker: e.Breaker.Snapshot(), Timeout: e.Timeout, Unbound: s.Approval.Unbound()}
		if b := l.Breaker; l.State == hook.StateReady && b.State == breaker.Open {
			l.Why = fmt.Sprintf("its breaker is open: it failed %d times in a row, and is skipped for %s", b.Failures, b.RetryAfter.Round(time.Second))
		}
		list[i] = l
	}
	return list
}

// lookupEnv reads the environment that hooks inherit.
func (o *Options) lookupEnv() func(string) (string, bool) {
	if o.Env == nil {
		return os.LookupEnv
	}
	return func(name string) (string, bool) { return environ.Lookup(o.Env, name) }
}

// getenv reads the environment that hooks inherit; "" = the variable is not set.
func (o *Options) getenv(name string) string {
	value, _ := o.lookupEnv()(name)
	return value
}

// homeDir is the home of the user for whom the hooks run: that of their environment, else this process's.
func (o *Options) homeDir() string { return cmp.Or(environ.Home(o.getenv), environ.Home(os.Getenv)) }

// Packs returns the references of the packs that are in force, as what names them has
// them. Those of text that is no reference are among them.
func (r *Registry) Packs() []string { return load.PackRefs(r.hooks.Snap.Load().Generation.Configs) }

// switchedOff is what switches hooks off from outside of files: the option, or a
// variable of the environment. Managed hooks run on, unless the managed settings
// allow it.
func (o *Options) switchedOff(compat []string) string {
	lookup := o.lookupEnv()
	on := func(name string) bool { v, _ := lookup(name); return v != "" && v != "0" && v != "false" }
	switch {
	case o.NoHooks:
		return "--no-hooks"
	case on("TENTERHOOK_NO_HOOKS"):
		return "TENTERHOOK_NO_HOOKS"
	case slices.Contains(compat, "caliban") && on("CALIBAN_NO_HOOKS"):
		return "CALIBAN_NO_HOOKS"
	}
	return ""
}
