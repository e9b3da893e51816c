package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenterhook/tenterhook/internal/built"
)

const release = "[fleet.keys.release]\nchannel = \"packs\"\nkey = \"ed25519:AAAA\"\n"

func fleetOf(text string) (FleetSettings, Config) {
	got := readText("/etc/tenterhook/settings.toml", text)
	return got.Settings.Fleet, got
}

func TestFleetIsReadFromASettingsFile(t *testing.T) {
	built.NotOnWindows(t, "its paths are POSIX")
	got, file := fleetOf("[fleet]\nname = \"acme\"\ndir = \"/var/lib/fleet\"\non_stale = \"ask\"\non_unknown = \"block\"\n" + release + "[fleet.keys.\"guard-1\"]\nchannel = \"guard\"\nkey = \"ssh-ed25519 AAAA\"\n")
	want := FleetSettings{Name: "acme", Dir: "/var/lib/fleet", OnStale: "ask", OnUnknown: "block",
		Keys: map[string]FleetKey{"release": {"packs", "ed25519:AAAA"}, "guard-1": {"guard", "ssh-ed25519 AAAA"}}}
	if diff := cmp.Diff(want, got); diff != "" || len(file.Notes) > 0 || !got.Set() {
		t.Error(diff, file.Notes)
	}
	got, file = fleetOf("[fleet]\nname = \"acme\"\n" + release)
	if diff := cmp.Diff(FleetSettings{Name: "acme", Keys: map[string]FleetKey{"release": {"packs", "ed25519:AAAA"}}}, got); diff != "" || len(file.Notes) > 0 {
		t.Error(diff, file.Notes)
	}
	if got, file = fleetOf("self_protection = true\n"); got.Set() || len(file.Notes) > 0 {
		t.Errorf("without a fleet: %+v, %v", got, file.Notes)
	}
}

func TestAMistakeInAFleetMakesItUnusable(t *testing.T) {
	for _, test := range []struct{ text, says string }{
		{"fleet = 1\n", "fleet"},
		{"[fleet]\n" + release, "the fleet's name"},
		{"[fleet]\nname = \"\"\n" + release, "the fleet's name"},
		{"[fleet]\nname = \"a/b\"\n" + release, "the fleet's name"},
		{"[fleet]\nname = \"acme\"\ndir = \"below/here\"\n" + release, "absolute path"},
		{"[fleet]\nname = \"acme\"\non_stale = \"allow\"\n" + release, "on_stale"},
		{"[fleet]\nname = \"acme\"\non_unknown = \"allow\"\n" + release, "on_unknown"},
		{"[fleet]\nname = \"acme\"\non_stail = \"keep\"\n" + release, "on_stail"},
		{"[fleet]\nname = \"acme\"\n", "no key"},
		{"[fleet]\nname = \"acme\"\n[fleet.keys]\n", "no key"},
		{"[fleet]\nname = \"acme\"\nkeys = 1\n", "keys"},
		{"[fleet]\nname = \"acme\"\n[fleet.keys]\nrelease = \"ed25519:AAAA\"\n", "a table under the key's ID"},
		{"[fleet]\nname = \"acme\"\n" + strings.Replace(release, ".release", ".\"a b\"", 1), "a table under the key's ID"},
		{"[fleet]\nname = \"acme\"\n" + strings.Replace(release, "packs", "all", 1), `"packs" or "guard"`},
		{"[fleet]\nname = \"acme\"\n" + strings.Replace(release, "channel = \"packs\"\n", "", 1), `"packs" or "guard"`},
		{"[fleet]\nname = \"acme\"\n" + strings.Replace(release, "key = \"ed25519:AAAA\"\n", "", 1), "public key is missing"},
		{"[fleet]\nname = \"acme\"\n" + release + "extra = 1\n", "extra"},
		{"[fleet]\nname = \"acme\"\n" + release + "[fleet.keys.bad]\nchannel = \"packs\"\n", "public key is missing"},
	} {
		got, file := fleetOf(test.text)
		if !strings.Contains(got.Wrong, test.says) || !got.Set() {
			t.Errorf("%s: %+v, want %q", test.text, got, test.says)
		}
		if len(file.Notes) == 0 || file.Notes[0].Line == 0 {
			t.Errorf("%s: %v", test.text, file.Notes)
		}
	}
}

func TestAFleetsNameCanNameAFolder(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "acme": true, "Acme-2.x_y": true, "0": true, "z9": true, "Z": true, strings.Repeat("a", 64): true,
		"": false, ".": false, "..": false, ".a": false, "-a": false, "a/b": false, `a\b`: false, "a b": false, "a\x00": false, "é": false, "a:b": false, "a@": false, "a[": false, "a`": false, "a{": false,
		strings.Repeat("a", 65): false,
	} {
		if got := ValidFleetName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
