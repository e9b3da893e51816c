package fleetpolicy_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy/policytest"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/trust"
)

func code(err error) string {
	var bad *fleetpolicy.Refusal
	if errors.As(err, &bad) {
		return bad.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// resigned signs a payload as it is, whatever it says.
func resigned(t *testing.T, f *policytest.Fleet, id, payload string) []byte {
	t.Helper()
	e := &fleetpolicy.Envelope{PayloadType: fleetpolicy.PayloadType, Payload: base64.StdEncoding.EncodeToString([]byte(payload))}
	e.Sign(id, f.Keys[id])
	raw, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestADocumentThatMayNotBeBelievedIsRefused(t *testing.T) {
	f := policytest.New(t)
	f.Apply("guard", 5, policytest.Deny)
	before := policytest.Document("guard", 4, policytest.Deny)
	foreign := policytest.Document("guard", 6, policytest.Deny)
	foreign.Fleet = "other"
	expired := policytest.Document("guard", 6, policytest.Deny)
	expired.Issued, expired.Expires = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	stranger := policytest.New(t)
	good := f.Sign(policytest.Document("guard", 6, policytest.Deny), "oncall")
	payload := func(of []byte) string {
		var e fleetpolicy.Envelope
		if err := json.Unmarshal(of, &e); err != nil {
			t.Fatal(err)
		}
		text, _ := base64.StdEncoding.DecodeString(e.Payload)
		return string(text)
	}
	settings := func(channel, text string) []byte {
		return f.Sign(policytest.Document(channel, 6, text), map[string]string{"guard": "oncall", "packs": "release"}[channel])
	}
	rule := func(keys string) string { return `{"hooks":{"PreToolUse":[{` + keys + `}]}}` }
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"nobody signed it":             {f.Sign(policytest.Document("guard", 6, policytest.Deny)), fleetpolicy.CodeUnknownKey},
		"a key that nobody knows":      {resigned(t, &policytest.Fleet{T: t, Keys: map[string]ed25519.PrivateKey{"mallory": stranger.Keys["oncall"]}}, "mallory", payload(good)), fleetpolicy.CodeUnknownKey},
		"a stolen key ID":              {stranger.Sign(policytest.Document("guard", 6, policytest.Deny), "oncall"), fleetpolicy.CodeForged},
		"a byte of the payload":        {bytes.Replace(good, []byte(`"payload": "eyJ`), []byte(`"payload": "eyK`), 1), fleetpolicy.CodeForged},
		"the other channel's key":      {f.Sign(policytest.Document("guard", 6, policytest.Deny), "release"), fleetpolicy.CodeChannel},
		"the other channel's key back": {f.Sign(policytest.Document("packs", 6, `{}`), "oncall"), fleetpolicy.CodeChannel},
		"another fleet":                {f.Sign(foreign, "oncall"), fleetpolicy.CodeForeign},
		"older":                        {f.Sign(before, "oncall"), fleetpolicy.CodeOlder},
		"the same version":             {f.Sign(policytest.Document("guard", 5, `{}`), "oncall"), fleetpolicy.CodeReplaced},
		"expired":                      {f.Sign(expired, "oncall"), fleetpolicy.CodeExpired},

		"code in the guard channel":         {settings("guard", rule(`"command":"true"`)), fleetpolicy.CodeReach},
		"a URL in the guard channel":        {settings("guard", rule(`"type":"http","url":"http://x"`)), fleetpolicy.CodeReach},
		"a pack in the guard channel":       {settings("guard", `{"packs":["r.example/x@sha256:`+strings.Repeat("0", 64)+`"]}`), fleetpolicy.CodeReach},
		"an approval in the guard channel":  {settings("guard", rule(`"type":"rule","decision":"allow"`)), fleetpolicy.CodeReach},
		"a rewrite in the guard channel":    {settings("guard", rule(`"type":"rule","decision":"rewrite","set":{"command":"'true'"}`)), fleetpolicy.CodeReach},
		"another spelling":                  {settings("guard", `{"disableAllHooks":true}`), fleetpolicy.CodeReach},
		"a command in the packs channel":    {settings("packs", rule(`"command":"true"`)), fleetpolicy.CodeReach},
		"a server in the packs channel":     {settings("packs", `{"mcp_servers":{"s":{"command":"sh"}}}`), fleetpolicy.CodeReach},
		"another spelling of it":            {settings("packs", `{"mcpServers":{"s":{"command":"sh"}}}`), fleetpolicy.CodeReach},
		"new keys in the packs channel":     {settings("packs", `{"fleet":{"name":"acme","keys":{"x":{"channel":"packs","key":"`+f.Says["release"].Key+`"}}}}`), fleetpolicy.CodeReach},
		"a rule that never runs":            {settings("guard", `{"hooks":{"SessionEnd":[{"type":"rule","decision":"deny","reason":"x"}]}}`), fleetpolicy.CodeMalformed},
		"a rule that is switched off":       {settings("guard", rule(`"type":"rule","decision":"deny","reason":"x","enabled":false`)), fleetpolicy.CodeMalformed},
		"a setting that nobody knows":       {settings("packs", `{"pakcs":[]}`), fleetpolicy.CodeMalformed},
		"a key of a rule that nobody knows": {settings("guard", rule(`"type":"rule","decision":"deny","reason":"x","matchr":"Bash"`)), fleetpolicy.CodeMalformed},
		"an event that nobody knows":        {settings("guard", `{"hooks":{"PreToolUsed":[{"type":"rule","decision":"deny","reason":"x"}]}}`), fleetpolicy.CodeMalformed},
		"settings of another product":       {settings("packs", `{"hooks":{"beforeShellExecution":[{"command":"true","failClosed":true}]}}`), fleetpolicy.CodeMalformed},
		"no settings":                       {settings("guard", `[]`), fleetpolicy.CodeMalformed},
		"no version":                        {f.Sign(policytest.Document("guard", 0, `{}`), "oncall"), fleetpolicy.CodeMalformed},
		"no such channel":                   {f.Sign(policytest.Document("other", 6, `{}`), "oncall"), fleetpolicy.CodeMalformed},
		"an unknown field":                  {resigned(t, f, "oncall", strings.Replace(payload(good), `{`, `{"more":1,`, 1)), fleetpolicy.CodeMalformed},
		"a field twice":                     {resigned(t, f, "oncall", strings.Replace(payload(good), `"version":6`, `"version":6,"version":7`, 1)), fleetpolicy.CodeMalformed},
		"a field twice in another case":     {resigned(t, f, "oncall", strings.Replace(payload(good), `"version":6`, `"version":6,"Version":7`, 1)), fleetpolicy.CodeMalformed},
		"a setting twice":                   {settings("guard", `{"disabled":[],"disabled":["user/x"]}`), fleetpolicy.CodeMalformed},
		"two documents":                     {resigned(t, f, "oncall", payload(good)+payload(good)), fleetpolicy.CodeMalformed},
		"deep":                              {resigned(t, f, "oncall", strings.Repeat("[", 1000)+strings.Repeat("]", 1000)), fleetpolicy.CodeMalformed},
		"not JSON":                          {[]byte("guard off"), fleetpolicy.CodeMalformed},
		"nothing":                           {nil, fleetpolicy.CodeMalformed},
		"an unknown field around it":        {bytes.Replace(good, []byte(`{`), []byte(`{"x":1,`), 1), fleetpolicy.CodeMalformed},
		"the payload twice":                 {bytes.Replace(good, []byte(`{`), []byte(`{"payload":"e30=",`), 1), fleetpolicy.CodeMalformed},
		"another type":                      {bytes.Replace(good, []byte("vnd.tenterhook.policy"), []byte("vnd.tenterhook.other"), 1), fleetpolicy.CodeMalformed},
		"something behind it":               {append(slices.Clone(good), "{}"...), fleetpolicy.CodeMalformed},
		"huge":                              {append(slices.Clone(good), bytes.Repeat([]byte(" "), fleetpolicy.MaxSize)...), fleetpolicy.CodeMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			if _, changed, err := f.Store().Apply(c.raw); code(err) != c.want || changed {
				t.Errorf("%v (%s), want %s", err, code(err), c.want)
			}
			if d, err := f.Store().Read("guard"); err != nil || d.Version != 5 {
				t.Errorf("in force is %+v, %v", d, err)
			}
			if d, err := f.Store().Read("packs"); err != nil || d != nil {
				t.Errorf("in force is %+v, %v", d, err)
			}
		})
	}
	if _, changed, err := f.Store().Apply(good); err != nil || !changed {
		t.Errorf("the good one: %v, %v", changed, err)
	}
	if _, changed, err := f.Store().Apply(good); err != nil || changed {
		t.Errorf("the good one once more: %v, %v", changed, err)
	}
}

func TestWhatLiesThereIsWhatWasAcceptedOrAnError(t *testing.T) {
	at := func(f *policytest.Fleet, name string) string { return filepath.Join(f.Dir, "acme", name) }
	put := func(t *testing.T, path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		do   func(*testing.T, *policytest.Fleet)
		want string
	}{
		"an older one is put back": {func(t *testing.T, f *policytest.Fleet) {
			put(t, at(f, "guard.json"), f.Sign(policytest.Document("guard", 1, `{}`), "oncall"))
		}, fleetpolicy.CodeOlder},
		"another one of its version": {func(t *testing.T, f *policytest.Fleet) {
			put(t, at(f, "guard.json"), f.Sign(policytest.Document("guard", 2, `{}`), "oncall"))
		}, fleetpolicy.CodeReplaced},
		"it is removed":         {func(t *testing.T, f *policytest.Fleet) { _ = os.Remove(at(f, "guard.json")) }, fleetpolicy.CodeMissing},
		"its floor is removed":  {func(t *testing.T, f *policytest.Fleet) { _ = os.Remove(at(f, "floor.json")) }, fleetpolicy.CodeChanged},
		"its floor is nonsense": {func(t *testing.T, f *policytest.Fleet) { put(t, at(f, "floor.json"), []byte("{}{}")) }, fleetpolicy.CodeChanged},
		"it is empty":           {func(t *testing.T, f *policytest.Fleet) { put(t, at(f, "guard.json"), nil) }, fleetpolicy.CodeMalformed},
		"a byte is another": {func(t *testing.T, f *policytest.Fleet) {
			text, _ := os.ReadFile(at(f, "guard.json"))
			put(t, at(f, "guard.json"), bytes.Replace(text, []byte("eyJ"), []byte("eyK"), 1))
		}, fleetpolicy.CodeForged},
		"it is the other channel's": {func(t *testing.T, f *policytest.Fleet) {
			put(t, at(f, "guard.json"), f.Sign(policytest.Document("packs", 9, `{}`), "release"))
		}, fleetpolicy.CodeChanged},
		"it is a link": {func(t *testing.T, f *policytest.Fleet) {
			_ = os.Rename(at(f, "guard.json"), at(f, "other"))
			_ = os.Symlink("other", at(f, "guard.json"))
		}, fleetpolicy.CodeChanged},
		"it is a link to nothing": {func(t *testing.T, f *policytest.Fleet) {
			_ = os.Remove(at(f, "guard.json"))
			_ = os.Symlink("nothing", at(f, "guard.json"))
		}, fleetpolicy.CodeChanged},
		"it is a folder": {func(t *testing.T, f *policytest.Fleet) {
			_ = os.Remove(at(f, "guard.json"))
			_ = os.Mkdir(at(f, "guard.json"), 0o700)
		}, fleetpolicy.CodeChanged},
		"it is huge": {func(t *testing.T, f *policytest.Fleet) {
			put(t, at(f, "guard.json"), make([]byte, fleetpolicy.MaxSize+1))
		}, fleetpolicy.CodeChanged},
		"others can write it": {func(t *testing.T, f *policytest.Fleet) { _ = os.Chmod(at(f, "guard.json"), 0o666) }, fleetpolicy.CodeChanged},
		"the store is a link to nowhere": {func(t *testing.T, f *policytest.Fleet) {
			_ = os.RemoveAll(at(f, ""))
			_ = os.Symlink("nothing", at(f, ""))
		}, fleetpolicy.CodeChanged},
		"its key is trusted no more": {func(t *testing.T, f *policytest.Fleet) { f.Key("oncall", "guard") }, fleetpolicy.CodeForged},
		"nothing":                    {func(*testing.T, *policytest.Fleet) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "a link") {
				built.NeedsLinks(t)
			} else if name == "others can write it" {
				built.NotOnWindows(t, "no mode says so")
			}
			f := policytest.New(t)
			f.Apply("guard", 1, `{}`)
			f.Apply("guard", 2, policytest.Deny)
			c.do(t, f)
			d, err := f.Store().Read("guard")
			if code(err) != c.want || (err == nil) != (d != nil) {
				t.Errorf("%v (%s), want %q", err, code(err), c.want)
			}
		})
	}
}

func TestNothingWasAcceptedIsNoErrorAndNoEmptyPolicy(t *testing.T) {
	f := policytest.New(t)
	if d, err := f.Store().Read("guard"); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	f.Apply("guard", 1, `{}`)
	if d, err := f.Store().Read("guard"); d == nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := f.Store().Read("packs"); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
}

func TestAnExpiredDocumentStaysAndAClockThatWasSetBackDoesNotRenewIt(t *testing.T) {
	d := policytest.Document("guard", 1, `{}`)
	if d.Stale(time.Now()) || !d.Stale(d.Expires) {
		t.Error("stale by another time than its own")
	}
	if d.Clock(d.Issued.Add(-time.Hour)) != d.Issued {
		t.Error("a clock before it was issued counts")
	}
	f := policytest.New(t)
	raw := f.ApplyUntil(time.Now().Add(-time.Minute), `{}`)
	got, err := f.Store().Read("guard")
	if err != nil || !got.Stale(time.Now()) {
		t.Errorf("%v, %v", got, err)
	}
	if _, changed, err := f.Store().Apply(raw); err != nil || changed {
		t.Errorf("the expired one that is in force comes again: %v, %v", changed, err)
	}
}

// Whatever write was the last before a crash, what is there is one of both.
func TestACrashLeavesOneDocumentOrTheOther(t *testing.T) {
	f := policytest.New(t)
	f.Apply("guard", 1, `{}`)
	floor := filepath.Join(f.Dir, "acme", "floor.json")
	before, _ := os.ReadFile(floor)
	f.Apply("guard", 2, policytest.Deny)
	if err := os.WriteFile(floor, before, 0o600); err != nil { // the mark did not reach the disk
		t.Fatal(err)
	}
	if d, err := f.Store().Read("guard"); err != nil || d.Version != 2 {
		t.Fatalf("%v, %v", d, err)
	}
	one, err := f.Store().Version("guard", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Store().Apply(one.Raw); code(err) != fleetpolicy.CodeOlder {
		t.Errorf("the older one counts again: %v", err)
	}
	other := policytest.New(t)
	if err := os.MkdirAll(filepath.Join(other.Dir, "acme"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other.Dir, "acme", "floor.json"), []byte(`{"guard":{"version":0}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := other.Store().Read("guard"); d != nil || err != nil {
		t.Errorf("the first one never came: %v, %v", d, err)
	}
}

func TestKeysAreRotatedByDocumentsWithBothSignatures(t *testing.T) {
	f := policytest.New(t)
	f.Apply("guard", 1, `{}`)
	f.Key("oncall-2", "guard")
	both := f.Sign(policytest.Document("guard", 2, `{}`), "oncall", "oncall-2")
	if _, _, err := f.Store().Apply(both); err != nil {
		t.Fatal(err)
	}
	delete(f.Says, "oncall")
	if d, err := f.Store().Read("guard"); err != nil || !slices.Equal(d.Signers, []string{"oncall-2"}) {
		t.Errorf("%v, %v", d, err)
	}
}

// A document that is in force may get another signature: nothing else of it changes.
func TestTheSameDocumentWithAnotherSignatureTakesItsPlace(t *testing.T) {
	f := policytest.New(t)
	f.Key("oncall-2", "guard")
	d := policytest.Document("guard", 1, `{}`)
	if _, _, err := f.Store().Apply(f.Sign(d, "oncall")); err != nil {
		t.Fatal(err)
	}
	if _, changed, err := f.Store().Apply(f.Sign(d, "oncall", "oncall-2")); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if d, err := f.Store().Read("guard"); err != nil || len(d.Signers) != 2 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestKeysThatCannotBeUsedMakeAllOfThemUnusable(t *testing.T) {
	for name, change := range map[string]func(map[string]dialect.FleetKey){
		"one key under two IDs": func(k map[string]dialect.FleetKey) {
			k["again"] = dialect.FleetKey{Channel: "packs", Key: k["oncall"].Key}
		},
		"not base64": func(k map[string]dialect.FleetKey) { k["x"] = dialect.FleetKey{Channel: "packs", Key: "ed25519:x"} },
		"no key":     func(k map[string]dialect.FleetKey) { k["x"] = dialect.FleetKey{Channel: "packs", Key: "hunter2"} },
		"an ssh key of the same material": func(k map[string]dialect.FleetKey) {
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(k["oncall"].Key, "ed25519:"))
			blob := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), raw...)
			k["ssh"] = dialect.FleetKey{Channel: "packs", Key: "ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob)}
		},
		"two ssh keys": func(k map[string]dialect.FleetKey) {
			k["ssh"] = dialect.FleetKey{Channel: "packs", Key: "ssh-ed25519 AAAA\nssh-ed25519 AAAA"}
		},
	} {
		f := policytest.New(t)
		if _, err := fleetpolicy.RootsOf(f.Settings()); err != nil {
			t.Fatal(err)
		}
		change(f.Says)
		if _, err := fleetpolicy.RootsOf(f.Settings()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// People have keys that ssh-keygen signs with, in agents and on tokens.
func TestSignaturesOfSSHKeysCount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	gen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip(err)
	}
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			f := policytest.New(t)
			key := filepath.Join(t.TempDir(), "key")
			run := func(stdin []byte, args ...string) []byte {
				t.Helper()
				c := exec.Command(gen, args...)
				c.Stdin = bytes.NewReader(stdin)
				out, err := c.Output()
				if err != nil {
					t.Fatalf("ssh-keygen %v: %v", args, err)
				}
				return out
			}
			run(nil, "-q", "-t", kind, "-N", "", "-f", key)
			public, err := os.ReadFile(key + ".pub")
			if err != nil {
				t.Fatal(err)
			}
			f.Says["anna"] = dialect.FleetKey{Channel: "guard", Key: strings.TrimSpace(string(public))}
			for namespace, want := range map[string]string{fleetpolicy.Namespace: "", "git": "namespace"} {
				e, err := fleetpolicy.Wrap(policytest.Document("guard", 1, policytest.Deny))
				if err != nil {
					t.Fatal(err)
				}
				armored := run(e.Message(), "-Y", "sign", "-f", key, "-n", namespace)
				if err := e.AddSSH("anna", armored); (err == nil) != (want == "") {
					t.Fatalf("%s: %v", namespace, err)
				}
				if want != "" {
					continue
				}
				raw, _ := e.Encode()
				d, err := f.Store().Roots.Verify(raw)
				if err != nil || !slices.Equal(d.Signers, []string{"anna"}) {
					t.Errorf("%v, %v", d, err)
				}
				e.Signatures[0].KeyID = "oncall"
				raw, _ = e.Encode()
				if _, err := f.Store().Roots.Verify(raw); code(err) != fleetpolicy.CodeForged {
					t.Errorf("as another key: %v", err)
				}
			}
		})
	}
}

// Each setting is one that a document may have, or one of those no document
// may have.
func TestEachSettingIsForDocumentsOrIsNot(t *testing.T) {
	never := []string{"mcp_servers", "fleet", "allow_no_hooks", "self_protection", "sandbox_required"}
	for _, key := range dialect.SettingKeys() {
		if slices.Contains(fleetpolicy.Says["packs"], key) == slices.Contains(never, key) {
			t.Errorf("%s: say whether a document may set it", key)
		}
	}
	for channel, keys := range fleetpolicy.Says {
		for _, key := range keys {
			if !slices.Contains(dialect.SettingKeys(), key) {
				t.Errorf("%s: %s is no setting", channel, key)
			}
		}
	}
}

func TestManyVersionsAreKeptAndNoMore(t *testing.T) {
	f := policytest.New(t)
	for v := range int64(40) {
		f.Apply("guard", v+1, `{}`)
	}
	versions, err := f.Store().Versions("guard")
	if err != nil || len(versions) != 32 || versions[0] != 40 {
		t.Errorf("%v, %v", versions, err)
	}
	left := filepath.Join(f.Store().Dir, "history", fmt.Sprintf("guard-%020d.json.1.tmp", 41)) // of a process that was killed while it wrote
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := f.Store().Versions("guard"); err != nil || !slices.Equal(again, versions) {
		t.Errorf("%v, %v", again, err)
	}
	if d, err := f.Store().Version("guard", 39); err != nil || d.Version != 39 {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := f.Store().Version("guard", 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestTwoThatApplyAtOnceLeaveTheNewest(t *testing.T) {
	f := policytest.New(t)
	done := make(chan error)
	for v := range int64(8) {
		raw := f.Sign(policytest.Document("guard", v+1, fmt.Sprintf(`{"disabled":["user/%d"]}`, v)), "oncall")
		go func() {
			_, _, err := f.Store().Apply(raw)
			if code(err) == fleetpolicy.CodeOlder {
				err = nil
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if d, err := f.Store().Read("guard"); err != nil || d.Version != 8 {
		t.Errorf("%v, %v", d, err)
	}
}

// Root with the environment of another user must leave nothing that this user could not use.
func TestARefusedStoreMakesNoFolder(t *testing.T) {
	if !safefile.HasModes {
		t.Skip("nothing is refused there")
	}
	f, shared := policytest.New(t), t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	s := &fleetpolicy.Store{Roots: f.Store().Roots, Dir: filepath.Join(shared, "policy", "acme")}
	var notOwned *trust.Problem
	if _, _, err := s.Apply(f.Sign(policytest.Document("guard", 1, policytest.Deny), "oncall")); !errors.As(err, &notOwned) {
		t.Error(err)
	}
	if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
