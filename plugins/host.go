package plugins

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/plugins/proto"
	"github.com/tenterhook/tenterhook/trust"
)

// Options configure a Host. The zero value works: plugins that the standard
// store approves.
type Options struct {
	// StateDir holds the approvals, see [trust.Open], the copies that run, and in
	// a folder "plugins" what plugins said of themselves;
	// "" = $XDG_STATE_HOME/tenterhook. It must be this user's alone, and not be
	// mounted noexec.
	StateDir string
	// Approvals are files with more approvals, see [trust.OpenFile].
	Approvals []string
	// Env names variables that every plugin gets beside the usual ones.
	Env []string
	// Environ is the host's environment, as "key=value"; nil = this process's
	// as it is when New is called.
	Environ []string
	// SocketDir is where the private folder for sockets is made. Its path must be
	// short, at most 42 bytes, and no other user may write there, unless the folder
	// is sticky as /tmp is; "" = the first of that kind: the system's temporary
	// folder, /tmp, StateDir.
	SocketDir string
	// Logger takes what plugins log; nil = nothing does.
	Logger *slog.Logger

	StartTimeout  time.Duration // of a start until the plugin is healthy; 0 = 10 s
	HealthTimeout time.Duration // of the answer to a health check; 0 = 2 s
	IdleCheck     time.Duration // a plugin that did not answer for so long is checked before a call; 0 = 30 s
	Grace         time.Duration // between SIGTERM and SIGKILL; 0 = 1 s
	MaxReply      int           // of an answer, in bytes; 0 = 4 MiB
}

// Host runs hooks of kind "plugin". It is safe for concurrent use. Close it.
type Host struct {
	options  Options
	versions []int // of the protocol
	sockets  *sockets
	reader   dialect.Reader

	stores    func() []*trust.Store // of approvals
	snapshots *trust.Snapshots      // what runs

	ctx    context.Context // ends with the host, with the cause errClosed
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	units  map[string]*unit      // by the executable's path
	single map[string]string     // that path, by the folder of a package with one plugin
	read   map[string]executable // by that path
	work   sync.WaitGroup        // what Close waits for
}

// New returns a Host. It starts nothing and reads nothing.
func New(o Options) *Host {
	o.StateDir = cmp.Or(o.StateDir, filepath.Join(xdg.StateHome, "tenterhook"))
	o.StartTimeout = cmp.Or(o.StartTimeout, 10*time.Second)
	o.HealthTimeout = cmp.Or(o.HealthTimeout, 2*time.Second)
	o.IdleCheck = cmp.Or(o.IdleCheck, 30*time.Second)
	o.Grace = cmp.Or(o.Grace, time.Second)
	o.MaxReply = cmp.Or(o.MaxReply, 4<<20)
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	o.Environ, o.Env, o.Approvals = slices.Clone(o.Environ), slices.Clone(o.Env), slices.Clone(o.Approvals)
	h := &Host{
		options: o,
		sockets: &sockets{base: o.SocketDir, state: o.StateDir},
		units:   make(map[string]*unit),
		single:  make(map[string]string),
		read:    make(map[string]executable),

		stores:    sync.OnceValue(func() []*trust.Store { return openStores(o) }),
		snapshots: trust.NewSnapshots(filepath.Join(o.StateDir, "snapshots")),
	}
	for v := proto.MinVersion; v <= proto.Version; v++ {
		h.versions = append(h.versions, v)
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// openStores opens the stores of approvals. A store that cannot be relied on says so
// when it is asked.
func openStores(o Options) []*trust.Store {
	own, _ := trust.Open(o.StateDir)
	stores := []*trust.Store{own}
	for _, file := range o.Approvals {
		handed, _ := trust.OpenFile(file)
		stores = append(stores, handed)
	}
	return stores
}

// Prewarm starts the plugin of a hook, so that the first call does not wait for
// that. It returns when the plugin runs or has failed, or at the end of ctx.
func (h *Host) Prewarm(ctx context.Context, c *hook.Call) error {
	u, want, p := h.approved(c.Hook, c.ProjectDir)
	if p != nil {
		return p.failure()
	}
	in, err := u.acquire(ctx, want)
	if err != nil {
		return err
	}
	u.Release(in, false)
	return nil
}

// Close ends all plugins, whatever calls are under way, and returns when nothing
// of them is left: after the grace and a second, at most. It never fails.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	units := h.units
	h.units = nil
	h.mu.Unlock()
	h.cancel(errClosed)
	var all sync.WaitGroup
	for _, u := range units {
		all.Go(func() { u.Close(closedProblem()) })
	}
	all.Wait()
	h.work.Wait()
	h.sockets.close()
	return nil
}

// enter has Close wait until h.work.Done; false = the host is closed.
func (h *Host) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Add(1)
	}
	return !h.closed
}

// spawn runs f in a goroutine that Close waits for; false = the host is closed.
func (h *Host) spawn(f func()) bool {
	if !h.enter() {
		return false
	}
	go func() {
		defer h.work.Done()
		f()
	}()
	return true
}

// unit returns the supervisor of an executable.
func (h *Host) unit(path string) (*unit, *Problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, closedProblem()
	}
	u := h.units[path]
	if u == nil {
		u = newUnit(h, path)
		h.units[path] = u
	}
	return u, nil
}

// launch starts a process from a copy of the approved bytes.
func (h *Host) launch(ctx context.Context, path string, a approval) (*instance, *Problem) {
	if _, p := enforced(a.box); p != nil {
		return nil, p
	}
	copied, p := h.copyOf(path, a.seal)
	if p != nil {
		return nil, p
	}
	sockets, p := h.sockets.open()
	if p != nil {
		return nil, p
	}
	return launch(ctx, start{
		path: copied, argv0: filepath.Base(path), dir: filepath.Dir(path), approval: a,
		env:      handedDown(h.options.Environ, h.options.Env, a.env),
		versions: h.versions, sockets: sockets, maxReply: h.options.MaxReply, grace: h.options.Grace, log: h.options.Logger,
	})
}
