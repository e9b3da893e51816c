package hooktest

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// Registry is the engine of this module, in the test's own process. configure
// changes the options that a case asks for, as a host would set them.
func Registry(configure ...func(*registry.Options)) Engine {
	return Opened(registry.Open, configure...)
}

// Opened is an engine whose registries open makes, such as tenterhook.Open, which
// runs every kind of hook.
func Opened(open func(context.Context, registry.Options) (*registry.Registry, error), configure ...func(*registry.Options)) Engine {
	return registryEngine{open, configure}
}

type registryEngine struct {
	open      func(context.Context, registry.Options) (*registry.Registry, error)
	configure []func(*registry.Options)
}

func (e registryEngine) Open(ctx context.Context, s Setup) (Session, error) {
	session := &registrySession{}
	opts := registry.Options{
		Workspace: s.Workspace, Dirs: s.Dirs, Env: s.Env,
		Without:  []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopePlugin},
		StateDir: filepath.Join(s.Home, "state"), DrainTimeout: time.Minute,
		NoHooks: s.Options.NoHooks, Serial: s.Options.Serial, StrictCompat: s.Options.StrictCompat,
		NonInteractive: s.Options.NonInteractive, StopLimit: s.Options.StopLimit, OnAsync: session.note,
	}
	if s.Schema != nil {
		opts.ToolSchema = func(string) json.RawMessage { return s.Schema }
	}
	for _, change := range e.configure {
		change(&opts)
	}
	var err error
	session.reg, err = e.open(ctx, opts)
	return session, err
}

type registrySession struct {
	reg *registry.Registry

	mu    sync.Mutex // guards async
	async []background
}

// background is what became of a hook that ran in the background.
type background struct {
	Hook      string       `json:"hook"`
	Event     hook.Event   `json:"event"`
	SessionID string       `json:"session_id"`
	Status    hook.Status  `json:"status"`
	Verdict   hook.Verdict `json:"verdict"`
	Failure   hook.Failure `json:"failure"`
	Reason    string       `json:"reason"`
	Rewake    bool         `json:"rewake"`
	Message   string       `json:"message"`
	Context   string       `json:"context"`
}

func (s *registrySession) note(a registry.AsyncResult) {
	r := &a.Result
	b := background{r.Hook.ID, a.Event, a.SessionID, r.Status, r.Verdict(), r.Failure, r.Reason, a.Rewake, a.Message, ""}
	if r.Output != nil {
		b.Context = r.Output.Context
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.async = append(s.async, b)
}

func (s *registrySession) Select(_ context.Context, payload []byte) ([]byte, error) {
	in, err := hook.DecodeInput(payload)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s.reg.Select(in))
}

func (s *registrySession) Dispatch(ctx context.Context, payload []byte) ([]byte, error) {
	in, err := hook.DecodeInput(payload)
	if err != nil {
		return nil, err
	}
	out, err := s.reg.Dispatch(ctx, in)
	if err != nil {
		return nil, err
	}
	out.Diagnostics = append(s.reg.Diagnostics(), out.Diagnostics...)
	return json.Marshal(out)
}

func (s *registrySession) Close() ([]byte, error) {
	if err := s.reg.Close(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.async, func(a, b background) int { return cmp.Compare(a.Hook, b.Hook) })
	return json.Marshal(append([]background{}, s.async...))
}
