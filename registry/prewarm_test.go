package registry_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// starter is a handler whose hooks need something that does not always start.
type starter struct {
	mu      sync.Mutex
	started []string
	wait    bool // until the context ends
}

func (s *starter) Handle(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil }

func (s *starter) Prewarm(ctx context.Context, c *hook.Call) error {
	h := c.Hook
	s.mu.Lock()
	s.started = append(s.started, h.Name)
	s.mu.Unlock()
	if s.wait {
		<-ctx.Done()
		return ctx.Err()
	}
	if h.Name != "good" {
		return errors.New("no server")
	}
	return nil
}

const someServers = `
-- good/HOOK.md --
+++
event = "PreToolUse"
type = "mcp"
server = "one"
tool = "x"
+++
-- bad/HOOK.md --
+++
event = "PreToolUse"
type = "mcp"
server = "two"
tool = "x"
+++
-- worse/HOOK.md --
+++
event = "PreToolUse"
type = "mcp"
server = "four"
tool = "x"
+++
-- off/HOOK.md --
+++
event = "PreToolUse"
type = "mcp"
server = "three"
tool = "x"
enabled = false
+++
-- other/HOOK.md --
+++
event = "PreToolUse"
command = "true"
+++
`

func TestPrewarmStartsWhatReadyHooksNeed(t *testing.T) {
	s := &starter{}
	opts := only(tree(t, someServers))
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindMCP: s}
	err := open(t, opts).Prewarm(t.Context())
	slices.Sort(s.started)
	if !slices.Equal(s.started, []string{"bad", "good", "worse"}) {
		t.Errorf("started for %v", s.started)
	}
	if err == nil || err.Error() != "dir/bad: no server\ndir/worse: no server" {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsAPrewarmUnderWay(t *testing.T) {
	s := &starter{wait: true}
	opts := only(tree(t, someServers))
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindMCP: s}
	reg := open(t, opts)
	ended := make(chan error)
	go func() { ended <- reg.Prewarm(context.Background()) }()
	for {
		s.mu.Lock()
		n := len(s.started)
		s.mu.Unlock()
		if n == 3 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := reg.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := reg.Prewarm(t.Context()); !errors.Is(err, registry.ErrClosed) || len(s.started) != 3 {
		t.Errorf("of a closed registry: %v %v", err, s.started)
	}
}
