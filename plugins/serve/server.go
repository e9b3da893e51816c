package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// Server holds a plugin's hooks. Fill it with [On], then call [Server.Main].
type Server struct {
	// Description says what the plugin does, in one line.
	Description string
	// Healthy, where not nil, is asked whether the plugin can work: the host
	// stops it if it cannot, and starts it again. It must return soon.
	Healthy func(ctx context.Context) error

	name, version string
	hooks         []*served
	problems      []error
}

// served is one hook and the function behind it.
type served struct {
	hook   *hook.Hook
	handle func(ctx context.Context, in hook.Input) (*hook.Output, error)
}

// New returns a Server for the plugin of this name and version. The name is the
// executable's, without tenterhook-plugin- before it.
func New(name, version string) *Server { return &Server{name: name, version: version} }

// On adds a hook for an event, which the function's input type names. Functions
// change what is declared about it: matcher, requirements, timeout, on_failure.
// A field that hook.proto has none for (Env, Syntax, AsyncRewake, …) is a problem.
//
//	serve.On(s, "audit", audit, func(h *hook.Hook) { h.Matcher = "Bash" })
//
// The function is called from many goroutines at once. Its context ends when the
// hook's time is up or no caller waits any more. An error is a hook that did not do
// its work, a nil Output one without an opinion, and a panic fails that call
// alone. What is wrong with a hook is said by [Server.Err], and by Main.
func On[In hook.Input](s *Server, name string, fn func(context.Context, In) (*hook.Output, error), configure ...func(*hook.Hook)) {
	var zero In
	s.add(&hook.Hook{Name: name, Event: zero.Event()}, configure, func(ctx context.Context, in hook.Input) (*hook.Output, error) {
		typed, ok := hook.As[In](in)
		if !ok {
			return nil, fmt.Errorf("it takes %T, the event brought %T", typed, in)
		}
		return fn(ctx, typed)
	})
}

// OnEvent is On for an event by its name, one of the host's own for instance.
func OnEvent(s *Server, name string, ev hook.Event, fn func(context.Context, hook.Input) (*hook.Output, error), configure ...func(*hook.Hook)) {
	s.add(&hook.Hook{Name: name, Event: ev}, configure, fn)
}

func (s *Server) add(h *hook.Hook, configure []func(*hook.Hook), fn func(context.Context, hook.Input) (*hook.Output, error)) {
	for _, change := range configure {
		change(h)
	}
	switch {
	case h.Name == "":
		s.problems = append(s.problems, fmt.Errorf("a hook for %s has no name", h.Event))
	case h.Event == "":
		s.problems = append(s.problems, fmt.Errorf("hook %s has no event: register it with OnEvent", h.Name))
	case s.find(h.Name, h.Event) != nil:
		s.problems = append(s.problems, fmt.Errorf("hook %s is declared twice for %s: give one another name", h.Name, h.Event))
	case h.OnFailure != "" && h.OnFailure != hook.FailureBlock && h.OnFailure != hook.FailureContinue:
		s.problems = append(s.problems, fmt.Errorf("hook %s: on_failure is %q: want block or continue", h.Name, h.OnFailure))
	case h.Timeout < 0:
		s.problems = append(s.problems, fmt.Errorf("hook %s: its timeout is negative", h.Name))
	}
	if lost := wire.Uncarried(h); len(lost) > 0 {
		s.problems = append(s.problems, fmt.Errorf("hook %s: %s has no effect, for a plugin cannot tell its host of it: "+
			"leave it out, or declare the hook in a HOOK.md if that has a key for it", h.Name, strings.Join(lost, ", ")))
	}
	s.hooks = append(s.hooks, &served{h, fn})
}

// Err says what is wrong with the plugin's hooks, nil if nothing is.
func (s *Server) Err() error {
	if len(s.hooks) == 0 {
		return errors.Join(append(s.problems, errors.New("the plugin has no hooks: add one with serve.On"))...)
	}
	return errors.Join(s.problems...)
}

// Service is the server as the protocol has it, for who serves it by other
// means than Main; package servetest does.
func (s *Server) Service() proto.HooksServer { return &service{server: s} }

func (s *Server) find(name string, ev hook.Event) *served {
	for _, one := range s.hooks {
		if one.hook.Name == name && one.hook.Event == ev {
			return one
		}
	}
	return nil
}
