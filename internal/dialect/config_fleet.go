package dialect

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// FleetSettings say whose signed policies count on this machine. The zero value
// says that none do.
type FleetSettings struct {
	Name string // the fleet's
	// Dir is where the policies that were accepted lie; "" = the standard place.
	Dir       string
	Keys      map[string]FleetKey // by the ID that signatures name
	OnStale   string              // "keep", "ask" or "block", when a policy has expired; "" = keep
	OnUnknown string              // the same, while none of a channel was ever accepted
	// Wrong says why nothing of it can be relied on; "" = it can.
	Wrong string
}

// FleetKey is a public key, and what it may sign.
type FleetKey struct {
	Channel string // "packs" or "guard"
	Key     string // "ed25519:" and the key in base64, or a line of authorized_keys
}

// Set reports whether a settings file names a fleet.
func (s *FleetSettings) Set() bool { return s.Name != "" || s.Wrong != "" }

// PolicyChannels are the channels of signed policies.
var PolicyChannels = []string{"packs", "guard"}

// staleWords say what its policies may do when they are old.
func staleWords() []string { return []string{"keep", "ask", "block"} }

// fleetKeys is the key of the settings of a fleet that has its public keys by ID.
func fleetKeys() decl.Key {
	return decl.Key{Name: "keys", Takes: decl.Tables, Inner: []decl.Key{{Name: "channel", Takes: decl.Choice, Words: PolicyChannels}, {Name: "key", Takes: decl.Text}}}
}

// ValidFleetName reports whether a text can name a fleet, or a key of it: it is
// also the name of a folder.
func ValidFleetName(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// fleet reads whose policies count. A mistake makes all of it unusable: who names
// a fleet wants its policies, and not what is left of them.
func (e *entry) fleet() FleetSettings {
	n := e.Get("fleet")
	if n == nil {
		return FleetSettings{}
	}
	if !n.IsTable() {
		e.Sub("fleet")
		return FleetSettings{Wrong: e.Wrong()}
	}
	own := decl.NewReader(e.Path) // whatever else the file has, nothing about its fleet is over a bound
	table := own.Table("settings.fleet", n)
	table.Only(innerNames("fleet"))
	s := FleetSettings{Name: table.Str("name"), Dir: table.Str("dir"), Keys: make(map[string]FleetKey),
		OnStale: decl.Meant(table, "on_stale", staleWords(), "block"), OnUnknown: decl.Meant(table, "on_unknown", staleWords(), "block")}
	if !ValidFleetName(s.Name) {
		table.Fail("bad_fleet", "name", "want the fleet's name: letters, digits, '-', '_' and '.', got "+phrase.Quote(s.Name), `write name = "acme"`)
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		table.Fail("bad_fleet", "dir", "want an absolute path, got "+phrase.Quote(s.Dir), "leave it out for the standard place")
	}
	readFleetKeys(table, s.Keys)
	if len(s.Keys) == 0 && table.Wrong() == "" {
		table.Fail("bad_fleet", "keys", "no key may sign its policies", `add [fleet.keys.ID] with channel = "packs" or "guard", and key = "…"`)
	}
	s.Wrong = table.Wrong()
	for _, d := range own.Finish() {
		s.Wrong = cmp.Or(s.Wrong, d.Message) // a key that has no effect was meant to have one
		e.Note(d)
	}
	return s
}

// readFleetKeys reads the keys of a fleet by their IDs.
func readFleetKeys(fleet *decl.Table, into map[string]FleetKey) {
	keys := fleet.Sub("keys")
	if keys == nil {
		return
	}
	for _, p := range keys.Node.Pairs() {
		if !ValidFleetName(p.Key) || !p.Node.IsTable() {
			fleet.Fail("bad_fleet", "keys."+p.Key, "want a table under the key's ID: letters, digits, '-', '_' and '.'", `write [fleet.keys.release] with channel and key below`)
			continue
		}
		one := fleet.Reader.Table("fleet.keys."+phrase.Clip(p.Key, 40), p.Node)
		one.Only(decl.Names(fleetKeys().Inner))
		k := FleetKey{Channel: one.Str("channel"), Key: one.Str("key")}
		if !slices.Contains(PolicyChannels, k.Channel) {
			one.Fail("bad_fleet", "channel", `want "packs" or "guard", got `+phrase.Quote(k.Channel), "a key signs one channel")
		}
		if k.Key == "" {
			one.Fail("bad_fleet", "key", "the public key is missing", "'tenterhook fleet policy keygen' prints it")
		}
		if one.Wrong() != "" {
			fleet.Inherit(one)
			continue
		}
		into[p.Key] = k
	}
}
