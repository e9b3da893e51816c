package registry

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/load"
)

// Policy is what is known of one channel of a fleet's signed policies.
type Policy = load.Policy

// PolicyState is whether a policy is in force.
type PolicyState = load.PolicyState

// The states of a [Policy].
const (
	PolicyKnown   = load.PolicyKnown
	PolicyStale   = load.PolicyStale
	PolicyUnknown = load.PolicyUnknown
	PolicyBroken  = load.PolicyBroken
)

// Policies returns what is known of the fleet's policies, a channel each; none if
// the settings name no fleet.
func (r *Registry) Policies() []load.Policy {
	_ = r.keepFleet(r.dispatcher.Done)
	var list []load.Policy
	for _, c := range r.hooks.Snap.Load().Configs {
		if c.Fleet != nil {
			list = append(list, *c.Fleet)
		}
	}
	return list
}

// Fleet returns the settings in force that say whose policies count, and the store
// of those; nil if none do, or if they cannot be relied on.
func (r *Registry) Fleet() (*fleetpolicy.Store, dialect.FleetSettings) {
	for _, m := range r.hooks.Snap.Load().Fleet {
		if m.Store != nil {
			return m.Store, m.Settings
		}
	}
	return nil, dialect.FleetSettings{}
}

// fleetWatch is what the last load saw, and when it was last checked.
type fleetWatch struct {
	seen   []*load.Fleet
	looked atomic.Int64 // as UnixNano
}

// watchFleet has dispatches look at the files that a load saw.
func (r *Registry) watchFleet(l *load.Loaded) {
	var w *fleetWatch
	if len(l.Fleet) > 0 {
		w = &fleetWatch{seen: l.Fleet}
	}
	r.fleet.Store(w)
}

// lookEvery is for how long what was seen of a fleet's files counts.
const lookEvery = 100 * time.Millisecond

// keepFleet loads what a dispatch is to obey if another policy came into force, or
// if one has expired, since the last load.
func (r *Registry) keepFleet(ctx context.Context) error {
	w := r.fleet.Load()
	if w == nil {
		return nil
	}
	now, last := time.Now(), w.looked.Load()
	if since := now.UnixNano() - last; since >= 0 && since < int64(lookEvery) || !w.looked.CompareAndSwap(last, now.UnixNano()) {
		return nil
	}
	if !slices.ContainsFunc(w.seen, func(m *load.Fleet) bool { return !m.Holds(now) }) {
		return nil
	}
	_, err := r.Reload(ctx)
	return err
}
