package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/stamp"
)

// Codes of diagnostics about a fleet's policies, beside those of package fleetpolicy.
const (
	fleetSettings = "fleet_settings" // the settings name a fleet and no keys that can be used
	policyUnknown = "policy_unknown" // no document of a channel was ever accepted
	policyStale   = "policy_stale"   // the one in force has expired
	policyClock   = "policy_clock"   // the clock says a time before it was issued
)

// Policy is what is known of one channel of a fleet's signed policies.
type Policy struct {
	Fleet   string      `json:"fleet"`
	Channel string      `json:"channel"`
	State   PolicyState `json:"state"`
	Version int64       `json:"version"` // 0 = none is known
	Issued  time.Time   `json:"issued,omitzero"`
	Expires time.Time   `json:"expires,omitzero"`
	Signers []string    `json:"signers"` // the IDs of the keys that signed it
	Reason  string      `json:"reason,omitempty"`
	Packs   []string    `json:"packs,omitempty"` // that it names
	Path    string      `json:"path"`
	Scope   hook.Scope  `json:"scope"`         // of the settings that name the fleet, and of the rules
	Why     string      `json:"why,omitempty"` // of a document that does not count
}

// PolicyState is whether a policy is in force.
type PolicyState string

// The states. An expired policy stays in force. A policy that does not count blocks what
// can be blocked.
const (
	PolicyKnown   PolicyState = "known"
	PolicyStale   PolicyState = "stale"
	PolicyUnknown PolicyState = "unknown" // none was ever accepted
	PolicyBroken  PolicyState = "broken"  // one was, and another document is in its place
)

// fleetLook is what a load saw of the files that say what is in force.
type fleetLook struct {
	files  []string
	stamps []stamp.Stamp // zero = there is none
	until  time.Time     // when one expires; zero = none does
}

// Holds reports whether the documents are as they were read, and none has expired since.
func (m *Fleet) Holds(now time.Time) bool { return m.look.holds(now) }

// holds reports whether all is as it was seen.
func (l fleetLook) holds(now time.Time) bool {
	return (l.until.IsZero() || now.Before(l.until)) && slices.Equal(l.stamps, stampsOf(l.files))
}

func stampsOf(files []string) []stamp.Stamp {
	stamps := make([]stamp.Stamp, len(files))
	for i, file := range files {
		stamps[i], _ = stamp.Of(file, false) // zero if it is not there
	}
	return stamps
}

// Fleet is what a load made of the documents of a fleet.
type Fleet struct {
	Settings dialect.FleetSettings
	scope    discovery.Scope
	look     fleetLook
	Store    *fleetpolicy.Store // nil = the settings cannot be relied on
	sure     bool               // its stamps show that the files are unchanged
	files    []*ConfigFile
}

// naming are the settings that name a fleet and count: the managed ones, else those
// of the user.
func naming(configs []*ConfigFile) (named []*ConfigFile) {
	for _, scope := range []hook.Scope{hook.ScopeManaged, hook.ScopeUser} {
		for _, c := range configs {
			if c.scope.Scope == scope && c.untrusted == "" && c.Fleet == nil && c.settings.Fleet.Set() && (len(named) == 0 || c.scope.Aside) {
				named = append(named, c)
			}
		}
		if len(named) > 0 {
			return named
		}
	}
	return nil
}

// loadFleet adds the settings and the rules of the documents in force. What was
// accepted and does not count any more is a hook that blocks, and never no policy.
func (r *Reader) loadFleet(last []*Fleet, l *Loaded) {
	named := naming(l.Configs)
	for _, c := range l.Configs {
		if c.settings.Fleet.Set() && !slices.Contains(named, c) && c.untrusted == "" {
			switch {
			case c.scope.Scope == hook.ScopeUser || c.scope.Scope == hook.ScopeManaged:
				l.Notes = append(l.Notes, c.ignored("fleet", "other settings name one, and the managed ones count first"))
			case c.scope.Scope == hook.ScopeDir:
				l.Notes = append(l.Notes, c.ignored("fleet", "a named folder has no say in it"))
			}
		}
	}
	for _, c := range named {
		i := slices.IndexFunc(last, func(m *Fleet) bool {
			return m.scope == c.scope && reflect.DeepEqual(m.Settings, c.settings.Fleet)
		})
		m := (*Fleet)(nil)
		if i >= 0 && last[i].sure && last[i].Holds(time.Now()) {
			m = last[i]
		} else {
			m = &Fleet{Settings: c.settings.Fleet, scope: c.scope}
			m.read(c)
			if i >= 0 {
				m.keepSame(last[i])
			}
		}
		l.Fleet = append(l.Fleet, m)
		for _, file := range m.files {
			l.Configs, l.Definitions, l.Notes = append(l.Configs, file), append(l.Definitions, file.Definitions...), append(l.Notes, file.notes...)
		}
	}
}

func storeOf(s dialect.FleetSettings) (*fleetpolicy.Store, error) {
	roots, err := fleetpolicy.RootsOf(s)
	if err != nil {
		return nil, err
	}
	dir := fleetpolicy.DirOf(s)
	if dir == "" {
		return nil, errors.New("no home directory is known, so its policies have no place: set dir under [fleet]")
	}
	return &fleetpolicy.Store{Roots: roots, Dir: dir}, nil
}

// read reads the documents of the fleet that a settings file names.
func (m *Fleet) read(c *ConfigFile) {
	began := time.Now()
	var err error
	if m.Store, err = storeOf(c.settings.Fleet); err != nil {
		f := &fleetFile{ConfigFile: &ConfigFile{scope: c.scope, path: c.path, product: ownProduct}, fleet: Policy{Fleet: c.settings.Fleet.Name, Scope: c.scope.Scope, Path: c.path}}
		f.broken(&fleetpolicy.Refusal{Code: fleetSettings, Message: "the fleet's policies cannot be relied on: " + err.Error(), Hint: "correct [fleet] in " + c.path})
		m.files = append(m.files, f.done())
		return
	}
	store := m.Store
	m.look.files = store.Files()
	m.look.stamps = stampsOf(m.look.files)
	m.sure = !slices.ContainsFunc(m.look.stamps, func(s stamp.Stamp) bool { return s.Young(began) })
	for _, channel := range dialect.PolicyChannels {
		f := &fleetFile{ConfigFile: &ConfigFile{scope: c.scope, path: store.Path(channel), product: ownProduct},
			fleet: Policy{Fleet: store.Roots.Fleet, Channel: channel, Scope: c.scope.Scope, Path: store.Path(channel), Signers: []string{}}}
		d, err := store.Read(channel)
		var bad *fleetpolicy.Refusal
		switch {
		case errors.As(err, &bad):
			f.broken(bad)
		case d != nil:
			f.inForce(d, c.settings.Fleet.OnStale, began, &m.look)
		case slices.Contains(store.Roots.Channels(), channel):
			f.unknown(c.settings.Fleet.OnUnknown)
		default:
			continue // no key may sign it
		}
		m.files = append(m.files, f.done())
	}
}

// keepSame takes over what was read before and is the same.
func (m *Fleet) keepSame(last *Fleet) {
	for i, f := range m.files {
		for _, was := range last.files {
			if was.path == f.path && reflect.DeepEqual(was.Fleet, f.Fleet) && string(was.data) == string(f.data) && slices.Equal(was.notes, f.notes) {
				m.files[i] = was
			}
		}
	}
}

// fleetFile is one channel, as the settings and hooks that it comes to.
type fleetFile struct {
	*ConfigFile
	fleet Policy
}

func (f *fleetFile) done() *ConfigFile {
	f.ConfigFile.Fleet = &f.fleet
	return f.ConfigFile
}

// add makes hooks definitions of the file.
func (f *fleetFile) add(hooks ...*hook.Hook) {
	for _, h := range hooks {
		f.Definitions = append(f.Definitions, &Definition{Scope: f.scope, Path: f.path, Hooks: []*hook.Hook{h}, Config: f.ConfigFile})
	}
}

// inForce takes a document over.
func (f *fleetFile) inForce(d *fleetpolicy.Signed, onStale string, now time.Time, look *fleetLook) {
	p := &f.fleet
	p.State, p.Version, p.Issued, p.Expires, p.Signers, p.Reason = PolicyKnown, d.Version, d.Issued, d.Expires, d.Signers, d.Reason
	config, bad := d.Config(f.scope.Scope, f.path)
	if bad != nil {
		f.broken(bad)
		return
	}
	f.data, f.settings, p.Packs = d.Raw, config.Settings, config.Settings.Packs
	f.add(config.Hooks...)
	if !d.Stale(now) {
		if look.until.IsZero() || d.Expires.Before(look.until) {
			look.until = d.Expires
		}
	} else {
		p.State = PolicyStale
		f.note(hook.SeverityWarning, policyStale, fmt.Sprintf("version %d of the fleet's policy %s expired at %s; it stays in force", d.Version, p.Channel, d.Expires.Local().Format(time.DateTime)),
			"bring a newer one here: tenterhook fleet policy set --here FILE")
		f.insist(onStale, "stale", fmt.Sprintf("the fleet's policy %s is stale: it expired at %s", p.Channel, d.Expires.Local().Format(time.DateTime)))
	}
	if now.Add(clockSlack).Before(d.Issued) {
		f.note(hook.SeverityWarning, policyClock, fmt.Sprintf("this machine's clock is behind: the fleet's policy %s was issued at %s", p.Channel, d.Issued.Local().Format(time.DateTime)), "set the clock")
	}
}

// clockSlack is by how much clocks may differ.
const clockSlack = 5 * time.Minute

// unknown is a channel of which none was ever accepted: this machine's own rules
// decide, unless the settings want a policy.
func (f *fleetFile) unknown(want string) {
	f.fleet.State = PolicyUnknown
	f.note(hook.SeverityWarning, policyUnknown, "no policy of the channel "+f.fleet.Channel+" of the fleet "+f.fleet.Fleet+" has come here yet",
		"bring one here: tenterhook fleet policy set --here FILE")
	f.insist(want, "unknown", "no policy of the fleet's channel "+f.fleet.Channel+" has come here yet")
}

// broken stands for a document that does not count.
func (f *fleetFile) broken(bad *fleetpolicy.Refusal) {
	f.fleet.State, f.fleet.Why = PolicyBroken, bad.Message
	f.settings, f.Definitions = dialect.Settings{}, nil
	f.note(hook.SeverityError, bad.Code, bad.Message, bad.Hint)
	f.block("broken", bad.Message)
}

func (f *fleetFile) note(severity hook.Severity, code, message, hint string) {
	f.notes = append(f.notes, hook.Diagnostic{Severity: severity, Code: code, Path: f.path, Message: message, Hint: hint})
}

// insist asks a person about each action, or blocks it.
func (f *fleetFile) insist(word, name, why string) {
	switch word {
	case "block":
		f.block(name, why)
	case "ask":
		reason, _ := json.Marshal(why) // a text always encodes
		for _, info := range hook.Events() {
			if info.Block == hook.BlockAction && info.Fields.Has(hook.FieldPermission) && info.Takes(hook.KindRule) {
				h := f.standIn(name + "-" + string(info.Event))
				h.Event, h.Kind, h.State = info.Event, hook.KindRule, hook.StateReady
				h.Params = hook.Params{"decision": json.RawMessage(`"ask"`), "reason": reason}
				f.add(h)
			}
		}
	}
}

// block adds a hook that fails on every event, and blocks what can be blocked.
func (f *fleetFile) block(name, why string) {
	h := f.standIn(name)
	h.Kind, h.State, h.Why = hook.KindRule, hook.StateInvalid, why
	f.add(h)
}

func (f *fleetFile) standIn(name string) *hook.Hook {
	h := &hook.Hook{Name: "fleet/" + name, Scope: f.scope.Scope, Source: hook.Source{Path: f.path}, OnFailure: hook.FailureBlock}
	if f.fleet.Channel != "" {
		h.Name = "fleet-" + f.fleet.Channel + "/" + name
	}
	h.ID = dialect.HookID(h.Scope, "", h.Name)
	return h
}
