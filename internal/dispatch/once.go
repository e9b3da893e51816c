package dispatch

import (
	"context"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// onceRuns remembers which hooks that run once have run, or are running.
type onceRuns struct {
	mu       sync.Mutex // guards all below
	sessions *simplelru.LRU[string, map[onceKey]*onceRun]
}

// onceKey outlives a reload, unless the hook has changed.
type onceKey struct {
	id, path, definition string
	session              string
}

func onceKeyOf(e *selection.Entry, session string) onceKey {
	return onceKey{e.Hook.ID, e.Hook.Source.Path, e.SpentAs, session}
}

// onceRun is a run that has succeeded, or that is under way.
type onceRun struct {
	over chan struct{} // nil = it succeeded; else closed when it ends
	by   uint64        // the dispatch that ran it; 0 = none
}

// claim is the right to run a hook that runs once. Who has it must settle it.
type claim struct {
	runs *onceRuns
	key  onceKey
	run  *onceRun
}

func newOnceRuns() *onceRuns {
	sessions, _ := simplelru.NewLRU[string, map[onceKey]*onceRun](selection.MaxSessions, nil) // fails on a size below 1
	return &onceRuns{sessions: sessions}
}

// claim returns nil if the hook has run in the session. While it runs in another
// dispatch, claim waits for the end, or with wait = false returns nil. The
// dispatch that ran the hook may run it again. The error is that of ctx.
func (o *onceRuns) claim(ctx context.Context, key onceKey, wait bool) (*claim, error) {
	dispatch := dispatchOf(ctx)
	for {
		run, over := o.take(key, dispatch.number())
		if run != nil {
			return &claim{o, key, run}, nil
		}
		if over == nil || !wait || dispatch.running(key) {
			return nil, nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take begins a run. It returns nil if there is one: over is nil if that has
// succeeded, and else is closed at its end.
func (o *onceRuns) take(key onceKey, by uint64) (run *onceRun, over chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	runs, ok := o.sessions.Get(key.session)
	if !ok {
		runs = make(map[onceKey]*onceRun)
		o.sessions.Add(key.session, runs)
	}
	if old := runs[key]; old != nil && (old.over != nil || by == 0 || old.by != by) {
		return nil, old.over
	}
	run = &onceRun{over: make(chan struct{}), by: by}
	runs[key] = run
	return run, nil
}

// spend notes a run that has succeeded already. It reports false if another
// dispatch had one before.
func (o *onceRuns) spend(key onceKey, by uint64) bool {
	run, _ := o.take(key, by)
	if run != nil {
		(&claim{o, key, run}).settle(true)
	}
	return run != nil
}

// settle ends a run. A run that did not succeed is given back.
func (c *claim) settle(succeeded bool) {
	c.runs.mu.Lock()
	defer c.runs.mu.Unlock()
	close(c.run.over)
	c.run.over = nil
	if runs, ok := c.runs.sessions.Peek(c.key.session); !succeeded && ok && runs[c.key] == c.run {
		delete(runs, c.key)
	}
}

// within tells the dispatches that the run makes that it is under way.
func (c *claim) within(ctx context.Context) context.Context {
	d := &current{once: &c.key, outer: dispatchOf(ctx)}
	if d.outer != nil {
		d.id, d.depth = d.outer.id, d.outer.depth
	}
	return d.in(ctx)
}

// spent reports whether a hook that runs once has run in the session.
func (o *onceRuns) spent(key onceKey) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	runs, _ := o.sessions.Get(key.session)
	run := runs[key]
	return run != nil && run.over == nil
}

func (o *onceRuns) forget(session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sessions.Remove(session)
}

// keep forgets the hooks that are no longer loaded.
func (o *onceRuns) keep(loaded func(onceKey) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, runs := range o.sessions.Values() {
		for key, run := range runs {
			if run.over == nil && !loaded(key) {
				delete(runs, key)
			}
		}
	}
}

// consumes reports whether a run counts as the one of a hook that runs once.
func consumes(r *hook.Result) bool {
	return r.Status == hook.StatusSuccess || r.Status == hook.StatusAsync
}

func hasRun(e *selection.Entry) hook.Result {
	return hook.Result{Hook: e.Hook, Status: hook.StatusSkipped, Reason: "once: it has run in this session"}
}
