package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/registry"
)

// Event is what the journal calls a document that came to a machine.
const Event hook.Event = "FleetPolicy"

// Machine takes documents for this machine. It is safe for concurrent use.
type Machine struct {
	opts Options
	reg  *registry.Registry
	rec  *recording.Recorder

	mu      sync.Mutex      // guards all below
	read    time.Time       // when the settings were
	refused map[string]bool // what was refused, so that it is recorded once
}

// Options say how a machine takes documents.
type Options struct {
	// Registry says where the settings are that name the fleet; the zero value is this
	// machine's own. Its StateDir has the journal.
	Registry registry.Options
	// Pull brings a pack into the store of this machine, before a document that names
	// it comes into force.
	Pull func(context.Context, pack.Reference) error
	// Logger gets what cannot be recorded; nil = silence.
	Logger *slog.Logger
}

// Open opens this machine. Close it.
func Open(ctx context.Context, o Options) (*Machine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Machine{opts: o, rec: recording.New(o.Registry.StateDir, os.Environ(), o.Logger), refused: make(map[string]bool)}
	m.rec.Always = true // no user's settings keep a change of the policy from the audit
	own := o.Registry
	own.Recorder, own.Without, own.NonInteractive = m.rec, append(own.Without, hook.ScopeProject, hook.ScopePlugin), true
	own.Workspace = cmp.Or(own.Workspace, string(os.PathSeparator))
	reg, err := registry.Open(ctx, own)
	if err != nil {
		return nil, errors.Join(err, m.rec.Close())
	}
	m.reg = reg
	return m, nil
}

// Close writes what is to be recorded.
func (m *Machine) Close() error { return errors.Join(m.reg.Close(), m.rec.CloseWithin(5*time.Second)) }

// Policies are what is known of each channel.
func (m *Machine) Policies() []registry.Policy { return m.reg.Policies() }

// readEvery is for how long settings that were read count. A document that they
// refuse has them read again.
const readEvery = 10 * time.Second

// Store is where the documents of this machine lie, by the settings as they are now.
func (m *Machine) Store(ctx context.Context) (*fleetpolicy.Store, error) {
	return m.store(ctx, 0)
}

// store is Store by settings of that age at most.
func (m *Machine) store(ctx context.Context, age time.Duration) (*fleetpolicy.Store, error) {
	began := time.Now()
	m.mu.Lock()
	old := began.Sub(m.read) >= age
	m.mu.Unlock()
	if old {
		if _, err := m.reg.Reload(ctx); err != nil {
			return nil, err
		}
		m.mu.Lock()
		m.read = began
		m.mu.Unlock()
	}
	if store, _ := m.reg.Fleet(); store != nil {
		return store, nil
	}
	for _, p := range m.reg.Policies() {
		return nil, problem.New("fleet_settings", p.Why, "correct [fleet] in "+p.Path, nil)
	}
	return nil, problem.New("no_fleet", "no settings of this machine name a fleet", "add [fleet] to the managed or the user's settings.toml: 'tenterhook fleet policy keygen' prints the lines", nil)
}

// Take puts a document in force on this machine, with the packs that it names. from
// says where it comes from; channel is what it should be about, "" = any. changed
// is false for the document that is in force already. An error changes nothing, and a
// document that is refused is recorded.
func (m *Machine) Take(ctx context.Context, raw []byte, channel, from string) (d *fleetpolicy.Signed, changed bool, err error) {
	began := time.Now()
	store, err := m.store(ctx, readEvery)
	if err != nil {
		return nil, false, err
	}
	d, changed, err = store.Judge(raw)
	if err != nil {
		if store, err = m.Store(ctx); err != nil {
			return nil, false, err
		}
		d, changed, err = store.Judge(raw)
	}
	if err == nil && channel != "" && d.Channel != channel {
		err = &fleetpolicy.Refusal{Code: fleetpolicy.CodeChannel, Message: fmt.Sprintf("it is of the channel %s, and came as %s", d.Channel, channel)}
	}
	if err == nil && changed {
		if err = m.pull(ctx, d); err != nil {
			return nil, false, err
		}
		d, changed, err = store.Apply(raw)
	}
	if err == nil && changed {
		m.record(began, from, raw, d, nil)
	}
	if bad := (*fleetpolicy.Refusal)(nil); errors.As(err, &bad) && m.first(raw, bad) {
		m.record(began, from, raw, d, bad)
	}
	return d, changed, err
}

// pull brings the packs of a document here.
func (m *Machine) pull(ctx context.Context, d *fleetpolicy.Signed) error {
	config, bad := d.Config(hook.ScopeUser, "")
	if bad != nil {
		return bad
	}
	for _, text := range config.Settings.Packs {
		ref, err := pack.Pinned(text)
		if err != nil {
			return &fleetpolicy.Refusal{Code: fleetpolicy.CodeMalformed, Message: "packs: " + err.Error(), Hint: "'tenterhook pack push' prints the reference with its digest"}
		}
		if m.opts.Pull == nil {
			continue
		}
		if err := m.opts.Pull(ctx, ref); err != nil {
			return problem.New("pack_missing", fmt.Sprintf("version %d of the policy %s names %s, which cannot be pulled: %v", d.Version, d.Channel, text, err), "the policy of before stays in force; pull the pack, and try again", err)
		}
	}
	return nil
}

// first reports whether a document is refused for a reason that was not recorded:
// a hub offers it again and again.
func (m *Machine) first(raw []byte, bad *fleetpolicy.Refusal) bool {
	key := bad.Code + digest(raw)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused[key] {
		return false
	}
	if len(m.refused) >= 1000 { // who offers so many finds each of them recorded once more
		clear(m.refused)
	}
	m.refused[key] = true
	return true
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// came is what the journal keeps of a document, in place of an agent's event.
type came struct {
	Event   hook.Event `json:"hook_event_name"`
	From    string     `json:"from"`
	Digest  string     `json:"sha256"` // of the envelope
	Keys    []string   `json:"keys"`   // that it says it is signed with
	Fleet   string     `json:"fleet,omitempty"`
	Channel string     `json:"channel,omitempty"`
	Version int64      `json:"version,omitempty"`
	Expires time.Time  `json:"expires,omitzero"`
	Reason  string     `json:"reason,omitempty"`
	Code    string     `json:"code,omitempty"` // why it was refused
}

// record writes down that a document came, and what became of it. What a refused
// one says of itself is written as it stands, since no machine obeys it.
func (m *Machine) record(began time.Time, from string, raw []byte, d *fleetpolicy.Signed, bad *fleetpolicy.Refusal) {
	c := came{Event: Event, From: from, Digest: digest(raw), Keys: []string{}}
	if e, err := fleetpolicy.ReadEnvelope(raw); err == nil {
		for _, s := range e.Signatures {
			c.Keys = append(c.Keys, s.KeyID)
		}
		if said, err := e.Document(); err == nil {
			c.Fleet, c.Channel, c.Version, c.Expires, c.Reason = said.Fleet, said.Channel, said.Version, said.Expires, said.Reason
		}
	}
	id := "fleet/policy"
	for _, known := range dialect.PolicyChannels {
		if c.Channel == known {
			id += "/" + known
		}
	}
	result := hook.Result{Hook: &hook.Hook{ID: id, Name: id, Kind: hook.KindRule, Event: Event}, Status: hook.StatusSuccess, Elapsed: time.Since(began)}
	if bad != nil {
		c.Code = bad.Code
		result.Status, result.Failure, result.Reason, result.Hint = hook.StatusFailed, hook.FailureUntrusted, "a policy was refused ("+bad.Code+"): "+bad.Message, bad.Hint
	} else {
		result.Reason = fmt.Sprintf("version %d of the policy %s is in force, signed by %v", d.Version, d.Channel, d.Signers)
	}
	payload, _ := json.Marshal(c) // it is made of texts and numbers
	if !m.rec.Recording() {
		m.opts.Logger.Warn("no journal keeps this", "policy", result.Reason)
	}
	m.rec.Record(hook.Record{Run: registry.NewRun(began), Time: began, Elapsed: result.Elapsed, Event: Event, Payload: payload,
		Outcome: &hook.Outcome{Event: Event, Reason: result.Reason, Results: []hook.Result{result}}})
}
