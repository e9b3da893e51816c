package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/protect"
	"github.com/tenterhook/tenterhook/registry"
)

// maxRegistries bounds the registries that are kept. The registry that was not used
// for longest goes first.
const maxRegistries = 16

// protectionID is the built-in guard of the guards.
var protectionID = hook.ScopeManaged.String() + "/" + protect.Name

// registries are open registries, by workspace, agent and the directories of
// their user. Agents do not share one: a session's ID is only its agent's.
type registries struct {
	d *Decider

	mu     sync.Mutex // guards all below
	open   map[registryKey]*shared
	order  []*shared // the last used one at the end
	closed bool
	ending sync.WaitGroup // registries that are being closed
}

type registryKey struct {
	agent, root string
	user
}

// shared is a registry that calls use.
type shared struct {
	*registry.Registry
	key   registryKey
	store *store
	to    *recorder     // nil = there is no state directory
	ready chan struct{} // closed when it is open, or has failed
	err   error

	rs    *registries
	users int // guarded by registries.mu
	gone  bool

	reload  sync.Mutex
	started atomic.Int64 // when the last reload that succeeded was begun, as uptime has it
}

func (rs *registries) init(d *Decider) { rs.d, rs.open = d, make(map[registryKey]*shared) }

// get returns an open registry. The caller releases it. What a registry starts to
// stay, such as plugins, has the environment of the call that opened it.
func (rs *registries) get(ctx context.Context, agent, root string, u user, call, env []string) (*shared, error) {
	key := registryKey{agent, root, u}
	rs.mu.Lock()
	if rs.closed {
		rs.mu.Unlock()
		return nil, errDraining
	}
	s := rs.open[key]
	first := s == nil
	if first {
		s = &shared{key: key, store: openStore(key), ready: make(chan struct{}), rs: rs}
		rs.open[key] = s
	}
	s.users++
	rs.order = append(slices.DeleteFunc(rs.order, func(o *shared) bool { return o == s }), s)
	rs.trim()
	rs.mu.Unlock()
	if first {
		s.start(env, Place(call).Dir)
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		s.release()
		return nil, context.Cause(ctx)
	}
	if s.err != nil {
		s.release()
		return nil, s.err
	}
	return s, nil
}

// start opens the registry. A registry that fails is not kept: the next call tries again.
func (s *shared) start(env []string, run string) {
	defer close(s.ready)
	s.err = errors.New("opening the registry failed")
	s.started.Store(uptime())
	opts := s.rs.d.options(s.key, env, run)
	if s.key.state != "" {
		s.to = s.rs.d.recorders.get(s.key.places, env)
		opts.Recorder = s.to
	}
	s.Registry, s.err = tenterhook.Open(context.Background(), opts)
	if s.err != nil {
		s.unrecord()
		s.rs.mu.Lock()
		s.rs.drop(s)
		s.rs.mu.Unlock()
		return
	}
	s.store.restore(s.Registry)
}

// unrecord ends what the registry is recorded by, once it is closed.
func (s *shared) unrecord() {
	if s.to != nil {
		s.rs.d.recorders.put(s.key.places, s.to)
	}
}

// recorded counts the records so far.
func (s *shared) recorded() int64 {
	if s.to == nil {
		return 0
	}
	return s.to.kept.Load()
}

// writtenWithin is how long an answer waits for its record. A kill after the answer
// then loses none, unless the disk or another process holds the record up.
const writtenWithin = 10 * time.Millisecond

// written waits until what was decided is recorded. before is recorded from before
// the decision: most calls concern no hook, and have no record.
func (s *shared) written(ctx context.Context, before int64) {
	if s.recorded() != before {
		ctx, cancel := context.WithTimeout(ctx, writtenWithin)
		defer cancel()
		_ = s.to.Flush(ctx) // it is written later
	}
}

// remember writes down what a call left behind, for the daemon that comes next.
func (s *shared) remember() {
	if err := s.store.save(s.Registry); err != nil {
		s.rs.d.log.Warn("state not written", "err", err)
	}
}

// trim ends the registries that are over the bound. The caller holds mu.
func (rs *registries) trim() {
	for i := 0; i < len(rs.order) && len(rs.order) > maxRegistries; {
		if s := rs.order[i]; s.users == 0 {
			rs.drop(s)
			rs.end(s)
		} else {
			i++
		}
	}
}

// drop forgets a registry. The caller holds mu.
func (rs *registries) drop(s *shared) {
	if rs.open[s.key] == s {
		delete(rs.open, s.key)
	}
	rs.order = slices.DeleteFunc(rs.order, func(o *shared) bool { return o == s })
	s.gone = true
}

// end closes a registry that no call uses, in the background. The caller holds mu.
func (rs *registries) end(s *shared) {
	rs.ending.Go(func() {
		<-s.ready
		if s.Registry != nil {
			if err := s.Close(); err != nil {
				rs.d.log.Warn("registry closed", "workspace", s.key.root, "err", err)
			}
			s.unrecord()
		}
	})
}

func (s *shared) release() {
	s.rs.mu.Lock()
	defer s.rs.mu.Unlock()
	s.users--
	s.rs.trim()
}

var processBegan = time.Now()

// uptime is how long this process runs, in nanoseconds. Setting the system's clock
// back does not change it: a reload must not seem to be newer than a request for one.
func uptime() int64 { return int64(time.Since(processBegan)) }

// refresh loads what changed since the registry was loaded, before a call is
// decided. Of calls that wait for it at once, one does it for all.
func (s *shared) refresh(ctx context.Context) error {
	asked := uptime()
	s.reload.Lock()
	defer s.reload.Unlock()
	if s.started.Load() > asked {
		return nil
	}
	began := uptime()
	changed, err := s.Refresh(ctx)
	if err != nil {
		return err
	}
	s.started.Store(began)
	if changed.Any() || len(changed.Pinned) > 0 {
		s.rs.d.log.Info("hooks changed", "workspace", s.key.root, "added", changed.Added, "removed", changed.Removed,
			"changed", changed.Changed, "kept", changed.Kept, "still_guarding", changed.Pinned)
	}
	return nil
}

// workspaces lists what registries are open for.
func (rs *registries) workspaces() []string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	list := []string{}
	for _, s := range rs.order {
		list = append(list, s.key.root+" ("+s.key.agent+")")
	}
	slices.Sort(list)
	return list
}

// unprotected says why self-protection is switched off, "" if it is not.
func (rs *registries) unprotected() string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, s := range rs.order {
		select {
		case <-s.ready:
		default:
			continue
		}
		if s.Registry == nil {
			continue
		}
		if why := switchedOff(s.Registry); why != "" {
			return why
		}
	}
	return ""
}

// close ends all registries. Calls must be over.
func (rs *registries) close() error {
	rs.mu.Lock()
	rs.closed = true
	for _, s := range slices.Clone(rs.order) {
		rs.drop(s)
		rs.end(s)
	}
	rs.mu.Unlock()
	rs.ending.Wait()
	return nil
}

// options are how a registry is opened: with the directories of the caller, and
// without what only a process of its own may take from its environment.
func (d *Decider) options(key registryKey, env []string, run string) registry.Options {
	opts := registry.Options{Workspace: key.root, UserDir: key.config, StateDir: key.state, Logger: d.log, Env: env, Homes: key.homes()}
	if key.data != "" {
		opts.PluginsDir = filepath.Join(key.data, "plugins")
	}
	for _, p := range key.others {
		if p.home != "" && !inside(p.config, key.root) { // a project's own need an approval
			opts.GuardDirs = append(opts.GuardDirs, p.config)
		}
	}
	opts.Guards = []*hook.Hook{key.protection(run).Guard()}
	opts.OnAsync = func(a registry.AsyncResult) { d.deliver(key.kept, key.agent, a) }
	return opts
}
