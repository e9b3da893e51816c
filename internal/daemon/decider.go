package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/registry"
)

// Decider answers the calls of agents' hook entries. It is safe for concurrent
// use. Close it at the end.
type Decider struct {
	log        *slog.Logger
	registries registries
	recorders  recorders
	sessions   sessions
	flights    flights
	agents     *agents
	alone      bool // there is no daemon: each call is a process of its own
}

// NewDecider returns a Decider without any registry. A nil logger is silence.
func NewDecider(log *slog.Logger, place client.Place) *Decider {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Decider{log: log, agents: openAgents(place)}
	d.registries.init(d)
	d.recorders.log = log
	d.sessions.init()
	return d
}

// Close ends the registries: background hooks have their time to end.
func (d *Decider) Close() error { return d.registries.close() }

// Caller is the process of a hook entry.
type Caller struct {
	// Within are the hooks below which the entry runs, outermost first. They are
	// not run again.
	Within []string

	user *user // nil = what the call says, see userOf
}

// answerMargin is how much sooner than its caller the Decider gives up, so that
// what it says still arrives.
const answerMargin = 500 * time.Millisecond

// Decide answers one call. Whatever goes wrong, the answer is that of the
// event's failure policy, with the reason.
func (d *Decider) Decide(ctx context.Context, call *client.Call, from Caller) client.Answer {
	agent, ok := bridge.Lookup(call.Agent)
	if !ok {
		a := closed.Undecided(call.Agent, call.Event, fmt.Sprintf("there is no agent %q", call.Agent))
		return client.Answer{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), ExitCode: a.ExitCode}
	}
	began := time.Now()
	if call.Patience > 0 {
		limit := call.Patience - min(answerMargin, call.Patience/4)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("no decision within %s", limit.Round(time.Millisecond)))
		defer cancel()
	}
	var s *session
	answer := agent.Respond(call.Event, call.Stdin, bridge.Caller{Env: call.Env, Dir: call.Dir}, nil,
		func(in hook.Input) (*hook.Outcome, error) {
			if from.user == nil {
				u := userOf(call.Env, call.Where)
				from.user = &u
			}
			u := *from.user
			s = d.sessions.get(u.kept, agent.Name, in.Common().SessionID)
			out, err := d.outcome(ctx, agent, call, in, u, s, from)
			if err != nil || !agent.TakesContext(call.Event) {
				return out, err
			}
			return s.withHeld(out), nil
		})
	if s != nil {
		s.hold(answer.Held)
		d.save(s)
	}
	if err := appendEnv(environ.Get(call.Env, "CLAUDE_ENV_FILE"), answer.Env); err != nil {
		d.log.Warn("variables of hooks are lost", "agent", call.Agent, "event", call.Event, "error", err)
	}
	d.note(call, &answer, time.Since(began))
	return client.Answer{Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.ExitCode}
}

// outcome asks the hooks about an input. Calls that stand for one event share
// one outcome.
func (d *Decider) outcome(ctx context.Context, agent *bridge.Agent, call *client.Call, in hook.Input, u user, s *session, from Caller) (*hook.Outcome, error) {
	return d.flights.join(ctx, eventOf(agent, call, in, from), func() (*hook.Outcome, error) {
		env := u.environ(call.Env)
		reg, err := d.registries.get(ctx, agent.Name, s.rootFor(in, call.Dir, u), u, call.Env, env)
		if err != nil {
			return nil, err
		}
		defer reg.release()
		if err := reg.refresh(ctx); err != nil {
			return nil, err
		}
		s.pin(reg.Registry)
		d.save(s)
		caller := registry.Caller{Env: env, Within: from.Within}
		if call.Umask >= 0 {
			caller.Umask = &call.Umask
		}
		dispatch := func() (*hook.Outcome, error) { return reg.Dispatch(registry.WithCaller(ctx, caller), in) }
		var out *hook.Outcome
		recorded := reg.recorded()
		if d.alone {
			out, err = reg.store.alone(ctx, reg.Registry, in, len(from.Within) > 0, dispatch)
		} else {
			if out, err = dispatch(); err == nil {
				reg.remember()
			}
		}
		reg.written(ctx, recorded)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		if in.Event() == hook.EventSessionEnd && err == nil {
			d.sessions.end(s)
		}
		return out, err
	})
}

// save writes what is kept of a session.
func (d *Decider) save(s *session) {
	if err := s.save(); err != nil {
		d.log.Warn("session not written", "agent", s.key.agent, "err", err)
	}
}

// note logs what an operator should know of a call. A gate that could not decide
// and what an agent cannot enforce are always logged.
func (d *Decider) note(call *client.Call, a *bridge.Answer, took time.Duration) {
	attrs := []any{"agent", call.Agent, "event", call.Event, "exit_code", a.ExitCode, "elapsed", took}
	for _, loss := range a.Losses {
		d.log.Info("loss", append(attrs, "wanted", loss.Wanted, "became", loss.Became, "why", loss.Why)...)
	}
	if text := string(a.Stderr); len(text) > 0 {
		d.log.Info("call", append(attrs, "stderr", clip(text))...)
		return
	}
	d.log.Debug("call", attrs...)
}

func clip(s string) string {
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// errDraining is why a call is not begun any more.
var errDraining = errors.New("the daemon is ending")
