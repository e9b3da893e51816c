// Package policytest makes fleets, with keys and signed documents, for tests.
package policytest

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
)

// Fleet is a fleet "acme" with a key "release" for packs and a key "oncall" for
// guard, with documents in a folder of the test.
type Fleet struct {
	T    testing.TB
	Dir  string
	Keys map[string]ed25519.PrivateKey
	Says map[string]dialect.FleetKey
}

// New makes a fleet.
func New(t testing.TB) *Fleet {
	f := &Fleet{t, t.TempDir(), make(map[string]ed25519.PrivateKey), make(map[string]dialect.FleetKey)}
	f.Key("release", fleetpolicy.ChannelPacks)
	f.Key("oncall", fleetpolicy.ChannelGuard)
	return f
}

// Key adds a key of a channel.
func (f *Fleet) Key(id, channel string) {
	f.T.Helper()
	private, public := fleetpolicy.NewKey()
	key, ok := fleetpolicy.PrivateKey(private)
	if !ok {
		f.T.Fatal("a new key cannot be read")
	}
	f.Keys[id], f.Says[id] = key, dialect.FleetKey{Channel: channel, Key: public}
}

// Settings are what a machine says of the fleet.
func (f *Fleet) Settings() dialect.FleetSettings {
	return dialect.FleetSettings{Name: "acme", Dir: f.Dir, Keys: f.Says}
}

// TOML is Settings as a file, with more lines of [fleet].
func (f *Fleet) TOML(more string) string {
	text := fmt.Sprintf("[fleet]\nname = \"acme\"\ndir = %q\n%s\n", f.Dir, more)
	for id, k := range f.Says {
		text += fmt.Sprintf("[fleet.keys.%s]\nchannel = %q\nkey = %q\n", id, k.Channel, k.Key)
	}
	return text
}

// Store is where the documents of the machine lie.
func (f *Fleet) Store() *fleetpolicy.Store {
	f.T.Helper()
	roots, err := fleetpolicy.RootsOf(f.Settings())
	if err != nil {
		f.T.Fatal(err)
	}
	return &fleetpolicy.Store{Roots: roots, Dir: fleetpolicy.DirOf(f.Settings())}
}

// Document is a document that holds for an hour.
func Document(channel string, version int64, settings string) *fleetpolicy.Document {
	now := time.Now()
	return &fleetpolicy.Document{Fleet: "acme", Channel: channel, Version: version, Issued: now, Expires: now.Add(time.Hour), Settings: json.RawMessage(settings)}
}

// Sign signs a document with keys of the fleet.
func (f *Fleet) Sign(d *fleetpolicy.Document, ids ...string) []byte {
	f.T.Helper()
	e, err := fleetpolicy.Wrap(d)
	if err != nil {
		f.T.Fatal(err)
	}
	for _, id := range ids {
		e.Sign(id, f.Keys[id])
	}
	raw, err := e.Encode()
	if err != nil {
		f.T.Fatal(err)
	}
	return raw
}

// Apply puts a document in force, signed with the key of its channel.
func (f *Fleet) Apply(channel string, version int64, settings string) {
	f.T.Helper()
	id := map[string]string{fleetpolicy.ChannelPacks: "release", fleetpolicy.ChannelGuard: "oncall"}[channel]
	if _, _, err := f.Store().Apply(f.Sign(Document(channel, version, settings), id)); err != nil {
		f.T.Fatal(err)
	}
}

// ApplyUntil puts version 2 of the guard in force until a time, which may have passed.
// It is there as after a crash, without its mark: a store accepts nothing that has
// expired, and a busy machine can be slower than any short time.
func (f *Fleet) ApplyUntil(expires time.Time, settings string) (raw []byte) {
	f.T.Helper()
	f.Apply(fleetpolicy.ChannelGuard, 1, settings)
	d := Document(fleetpolicy.ChannelGuard, 2, settings)
	d.Issued, d.Expires = expires.Add(-time.Hour), expires
	raw = f.Sign(d, "oncall")
	if err := os.WriteFile(f.Store().Path(d.Channel), raw, 0o600); err != nil {
		f.T.Fatal(err)
	}
	return raw
}

// Deny is the settings of a guard that denies every tool call.
const Deny = `{"hooks":{"PreToolUse":[{"type":"rule","name":"stop","decision":"deny","reason":"incident 7"}]}}`
