package cli

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/fleet/internal/agent"
	"github.com/tenterhook/tenterhook/fleet/internal/policy"
)

// policyPart has a machine obey the policy at the hub, as a part of the agent.
type policyPart struct {
	app      *app
	state    string
	follower atomic.Pointer[policy.Follower] // nil = it does not run
}

func (*policyPart) Name() string { return policyName }

func (p *policyPart) Run(ctx context.Context, l *agent.Link) {
	m, err := p.app.machine(ctx, p.state, l.Log)
	if err != nil {
		l.Log.Error("the policy of the hub is not obeyed", "err", err)
		return
	}
	f := &policy.Follower{Machine: m, Conn: l.Conn, Changed: l.Changed}
	p.follower.Store(f)
	err = f.Follow(ctx)
	p.follower.Store(nil)
	if err != nil {
		l.Log.Error("the policy of the hub is not obeyed", "err", err)
	}
	if err := m.Close(); err != nil {
		l.Log.Warn("not all is in the journal", "err", err)
	}
}

// State says which policies are in force, and when the hub said so last.
func (p *policyPart) State() any {
	var said policyState
	f := p.follower.Load()
	if f == nil {
		return said
	}
	if at := f.Answered(); !at.IsZero() {
		said.Answered = at.UTC().Truncate(time.Second)
	}
	for _, known := range f.Machine.Policies() {
		c := channelState{State: known.State, Version: known.Version, Issued: known.Issued, Expires: known.Expires, Signers: known.Signers}
		if err := f.Problem(known.Channel); err != nil {
			c.Refused = err.Error()
		}
		if said.Channels == nil {
			said.Channels = map[string]channelState{}
		}
		said.Channels[known.Channel] = c
	}
	return said
}
