package dialect

import (
	"path/filepath"
	"slices"
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

// The keys of a fleet in the settings, and what its policies may do when they
// are old.
var (
	fleetKeys    = []string{"name", "dir", "keys", "on_stale", "on_unknown"}
	fleetKeyKeys = []string{"channel", "key"}
	staleWords   = []string{"keep", "ask", "block"}
)

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
	n := e.get("fleet")
	if n == nil {
		return FleetSettings{}
	}
	table := e.sub("fleet")
	if table == nil {
		return FleetSettings{Wrong: e.wrong}
	}
	first := len(table.config.Notes)
	table.onlyKeys(fleetKeys)
	s := FleetSettings{Name: table.str("name"), Dir: table.str("dir"), Keys: make(map[string]FleetKey),
		OnStale: table.word("on_stale", staleWords), OnUnknown: table.word("on_unknown", staleWords)}
	if !ValidFleetName(s.Name) {
		table.fail("bad_fleet", table.line("name"), "name", "want the fleet's name: letters, digits, '-', '_' and '.', got "+quote(s.Name), `write name = "acme"`)
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		table.fail("bad_fleet", table.line("dir"), "dir", "want an absolute path, got "+quote(s.Dir), "leave it out for the standard place")
	}
	if keys := table.sub("keys"); keys != nil {
		table.fleetKeys(keys, s.Keys)
	}
	if len(s.Keys) == 0 && table.wrong == "" {
		table.fail("bad_fleet", table.line("keys"), "keys", "no key may sign its policies", `add [fleet.keys.ID] with channel = "packs" or "guard", and key = "…"`)
	}
	if s.Wrong = table.wrong; s.Wrong == "" && len(table.config.Notes) > first {
		s.Wrong = table.config.Notes[first].Message // a key that has no effect was meant to have one
	}
	return s
}

// fleetKeys reads the keys by their IDs.
func (e *entry) fleetKeys(table *entry, into map[string]FleetKey) {
	for _, p := range table.table.pairs() {
		one := e.newEntry("fleet.keys."+shorten(p.key, 40), p.node)
		if !ValidFleetName(p.key) || !p.node.isTable() {
			e.fail("bad_fleet", p.line, "keys."+p.key, "want a table under the key's ID: letters, digits, '-', '_' and '.'", `write [fleet.keys.release] with channel and key below`)
			continue
		}
		one.onlyKeys(fleetKeyKeys)
		k := FleetKey{Channel: one.str("channel"), Key: one.str("key")}
		if !slices.Contains(PolicyChannels, k.Channel) {
			one.fail("bad_fleet", one.line("channel"), "channel", `want "packs" or "guard", got `+quote(k.Channel), "a key signs one channel")
		}
		if k.Key == "" {
			one.fail("bad_fleet", one.line("key"), "key", "the public key is missing", "'tenterhook fleet policy keygen' prints it")
		}
		if one.wrong != "" {
			e.wrong = one.wrong
			continue
		}
		into[p.key] = k
	}
}

// fleetSchema is the JSON Schema of a fleet.
func fleetSchema() object {
	text, word := object{"type": "string"}, object{"enum": staleWords}
	return closed(object{"name": text, "dir": text, "on_stale": word, "onStale": word, "on_unknown": word, "onUnknown": word,
		"keys": object{"type": "object", "additionalProperties": closed(object{"channel": object{"enum": PolicyChannels}, "key": text})}})
}
