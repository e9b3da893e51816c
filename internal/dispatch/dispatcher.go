package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// Options are those of a dispatcher, as of a registry, with defaults.
type Options struct {
	Workspace    string
	StateDir     string
	Serial       bool
	MaxParallel  int
	StopLimit    int
	DrainTimeout time.Duration
	ToolSchema   func(tool string) json.RawMessage
	OnAsync      func(hook.AsyncResult)
	Recorder     hook.Recorder // nil = nothing is kept
	Logger       *slog.Logger  // nil = silence
	// Refresh is called before each dispatch: it loads what that is to obey.
	Refresh func(context.Context) error
}

// Dispatcher runs the hooks that an input concerns, and remembers between
// dispatches what a session has used. All methods may be called at once.
type Dispatcher struct {
	opts     Options
	hooks    *selection.Hooks
	commands *command.Handler // the registry's own
	Host     host
	schemas  schemaCache
	stops    *stopGuard
	once     *onceRuns
	calls    callLocks
	Async    *pool
	parallel chan struct{} // a place for each hook that runs

	Done context.Context // ends with the registry
	end  context.CancelFunc

	mu       sync.Mutex // guards all below
	closed   bool
	inFlight sync.WaitGroup // dispatches; added to under mu
}

// New returns a dispatcher of hooks, whose handlers are commands among
// others. start has to be called before the first dispatch.
func New(opts Options, hooks *selection.Hooks, commands *command.Handler) *Dispatcher {
	d := &Dispatcher{opts: opts, hooks: hooks, commands: commands, parallel: make(chan struct{}, opts.MaxParallel),
		stops: newStopGuard(opts.StopLimit), once: newOnceRuns()}
	hooks.Spent = d.spent
	d.Done, d.end = context.WithCancel(context.Background())
	return d
}

// Start begins with a pool for so many hooks of the background.
func (r *Dispatcher) Start(most int) { r.Async = newPool(r, most) }

// Enter counts a dispatch in.
func (r *Dispatcher) Enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.inFlight.Add(1)
	return nil
}

// WhileOpen does something unless the registry is closed.
func (r *Dispatcher) WhileOpen(do func() error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	return do()
}

func (r *Dispatcher) Leave() { r.inFlight.Done() }

// Stop lets nothing begin any more and cancels what runs. It reports false if that
// was done before.
func (r *Dispatcher) Stop() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.closed = true
	r.end()
	return true
}

// Drain waits for what was stopped, and closes the handlers.
func (r *Dispatcher) Drain() error {
	return errors.Join(r.awaitDispatches(), r.Async.close(r.opts.DrainTimeout), r.CloseHandlers())
}

// awaitDispatches waits for the dispatches under way, which were cancelled.
func (r *Dispatcher) awaitDispatches() error {
	ended := make(chan struct{})
	go func() { r.inFlight.Wait(); close(ended) }()
	if !within(ended, closeGrace) {
		return fmt.Errorf("dispatches did not end within %s of being cancelled", closeGrace)
	}
	return nil
}

// spent reports whether a hook that runs once has run in the session.
func (r *Dispatcher) spent(e *selection.Entry, session string) bool {
	return r.once.spent(onceKeyOf(e, session))
}

// forget drops what is kept of a session.
func (r *Dispatcher) forget(session string) {
	r.once.forget(session)
	r.stops.forget(session)
}

// EndSession removes a session's hooks and what is remembered of it.
func (r *Dispatcher) EndSession(session string) {
	r.hooks.EndSession(session)
	r.forget(session)
}
