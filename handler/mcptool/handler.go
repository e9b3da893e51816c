package mcptool

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/spill"
)

// Connector opens a connection to an MCP server: newline-delimited JSON-RPC.
// It must return by the end of ctx, which bounds the connecting alone. Closing
// the connection must not block, and must end a Read and a Write that wait.
type Connector func(ctx context.Context) (io.ReadWriteCloser, error)

// Options configure a Handler. The zero value is usable: servers come from the
// settings alone.
type Options struct {
	// Env is what servers inherit and what headers take their variables from,
	// as "key=value"; nil = this process's environment as it is when New is
	// called.
	Env []string
	// Servers are those of the host, by the name that hooks call them by. One
	// of the settings with such a name is passed over.
	Servers map[string]Connector
	// StartTimeout bounds a server's start with its handshake. 0 = 30 s.
	StartTimeout time.Duration
}

const (
	defaultStartTimeout = 30 * time.Second
	// closeTimeout bounds Close: a server's grace, the kill, and some air.
	closeTimeout = 3 * time.Second
)

// Handler runs hooks that are tools of MCP servers. It is safe for concurrent
// use.
type Handler struct {
	env          []string
	host         map[string]Connector
	startTimeout time.Duration
	reader       dialect.Reader
	read         sync.Map // *hook.Hook → params

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // starts, sessions, probes

	mu      sync.Mutex
	servers map[string]*server
	closed  bool // nothing is added to running any more
}

// New returns a Handler. It starts nothing.
func New(o Options) *Handler {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	h := &Handler{
		env: slices.Clone(o.Env), host: maps.Clone(o.Servers),
		startTimeout: cmp.Or(o.StartTimeout, defaultStartTimeout),
		reader:       dialect.Reader{Spill: spill.Text},
		servers:      make(map[string]*server),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	for name, connect := range h.host {
		h.servers[name] = h.newServer(definition{name: name, connect: connect})
	}
	return h
}

// Handle calls the hook's tool and reads its answer. It returns at the end of
// ctx, whatever the server does; the session lives on.
func (h *Handler) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	p, err := h.params(c.Hook)
	if err != nil {
		return nil, err
	}
	v, err := h.server(p.server)
	if err != nil {
		return nil, err
	}
	if _, warning, _ := resolve.Enforced(resolve.Asked(v.def.spec.Sandbox), v.def.spec.Sandbox); warning != "" {
		c.Warn("sandbox", warning, "see docs/containment.md")
	}
	input, err := p.expand(c)
	if err != nil {
		return nil, err
	}
	a, err := v.call(ctx, c, p.tool, input)
	if err != nil {
		return nil, err
	}
	return h.output(c, a)
}

// Close ends all servers. It returns when they are gone, or with an error
// after 3 s. Calls under way fail.
func (h *Handler) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	gone := make(chan struct{})
	go func() {
		h.running.Wait()
		close(gone)
	}()
	late := time.NewTimer(closeTimeout)
	defer late.Stop()
	select {
	case <-gone:
		return nil
	case <-late.C:
		return errors.New("some MCP servers have not ended yet; they are being killed")
	}
}

// spawn runs f in a goroutine that Close waits for. It returns false if the
// handler is closed.
func (h *Handler) spawn(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.running.Go(f)
	return true
}
