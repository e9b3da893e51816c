package cli

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/fleet/internal/agent"
	"github.com/tenterhook/tenterhook/fleet/internal/policy"
	"github.com/tenterhook/tenterhook/registry"
)

// policyPart has a machine obey the policy at the hub, as a part of the agent.
type policyPart struct {
	app      *app
	state    string
	follower atomic.Pointer[policy.Follower] // nil = it does not run
}

func (*policyPart) Name() string { return "policy" }

func (p *policyPart) Run(ctx context.Context, l *agent.Link) {
	m, err := p.app.machine(ctx, p.state, l.Log)
	if err != nil {
		l.Log.Error("the policy of the hub is not obeyed", "err", err)
		return
	}
	f := &policy.Follower{Machine: m, Conn: l.Conn}
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

// channelState is a channel as the agent says it: which version is in force, how old
// it is, and why what the hub says is not.
type channelState struct {
	State   registry.PolicyState `json:"state"`
	Version int64                `json:"version"`
	Issued  time.Time            `json:"issued,omitzero"`
	Expires time.Time            `json:"expires,omitzero"`
	Signers []string             `json:"signers"`
	Refused string               `json:"refused,omitempty"`
}

// State says which policies are in force, and when the hub said so last.
func (p *policyPart) State() any {
	said := make(map[string]any)
	f := p.follower.Load()
	if f == nil {
		return said
	}
	if at := f.Answered(); !at.IsZero() {
		said["answered"] = at.UTC().Truncate(time.Second)
	}
	for _, known := range f.Machine.Policies() {
		c := channelState{State: known.State, Version: known.Version, Issued: known.Issued, Expires: known.Expires, Signers: known.Signers}
		if err := f.Problem(known.Channel); err != nil {
			c.Refused = err.Error()
		}
		said[known.Channel] = c
	}
	return said
}
