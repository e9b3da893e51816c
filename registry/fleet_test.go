package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy/policytest"
	"github.com/tenterhook/tenterhook/internal/pack/packtest"
	"github.com/tenterhook/tenterhook/registry"
)

// inFleet is a machine whose user's settings name a fleet.
func inFleet(t *testing.T, f *policytest.Fleet, more string) registry.Options {
	t.Helper()
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.toml"), f.TOML(more))
	return opts
}

// ruledBy is what a registry decides of a tool call within 15 s, without anybody
// reloading it.
func ruledBy(t *testing.T, reg *registry.Registry, want hook.Verdict) *hook.Outcome {
	t.Helper()
	for until := time.Now().Add(15 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		out := dispatch(t, reg, bash("ls"))
		if out.Verdict == want || time.Now().After(until) {
			if out.Verdict != want {
				t.Errorf("it decides %v, want %v: %s", out.Verdict, want, out.Reason)
			}
			return out
		}
	}
}

func states(reg *registry.Registry) string {
	var list []string
	for _, p := range reg.Policies() {
		list = append(list, fmt.Sprintf("%s %s %d", p.Channel, p.State, p.Version))
	}
	return strings.Join(list, ", ")
}

func TestAGuardOfTheFleetIsInForceInARunningRegistryAndEndsThere(t *testing.T) {
	f := policytest.New(t)
	reg := open(t, inFleet(t, f, ""))
	ruledBy(t, reg, hook.NoOpinion)
	if got := states(reg); got != "packs unknown 0, guard unknown 0" {
		t.Errorf("before: %s", got)
	}
	f.Apply("guard", 1, policytest.Deny)
	out := ruledBy(t, reg, hook.Deny)
	if out.Reason != "incident 7" || out.Results[0].Hook.ID != "user/fleet-guard/stop" {
		t.Errorf("%q by %s", out.Reason, out.Results[0].Hook.ID)
	}
	if got := states(reg); got != "packs unknown 0, guard known 1" {
		t.Errorf("on: %s", got)
	}
	if p := reg.Policies()[1]; !slices.Equal(p.Signers, []string{"oncall"}) || p.Fleet != "acme" {
		t.Errorf("%+v", p)
	}
	f.Apply("guard", 2, `{}`)
	ruledBy(t, reg, hook.NoOpinion)
}

// A record names the versions of the policies that were in force: 0 for a document
// that cannot be relied on, and none for one that never came.
func TestRecordNamesTheVersionsOfTheFleetsPolicies(t *testing.T) {
	f := policytest.New(t)
	opts := inFleet(t, f, "")
	k := &prompt{}
	opts.Recorder = k
	reg := open(t, opts)
	on(t, reg, "guard", answer(nil))
	expect := func(want string, verdict hook.Verdict) {
		t.Helper()
		ruledBy(t, reg, verdict)
		k.mu.Lock()
		defer k.mu.Unlock()
		if got := k.records[len(k.records)-1].Policy; got.String() != want || (got == nil) != (want == "") {
			t.Errorf("the record has %v, want %q", got, want)
		}
	}
	expect("", hook.NoOpinion)
	f.Apply("guard", 3, policytest.Deny)
	expect("guard 3", hook.Deny)
	f.Apply("guard", 4, `{}`)
	expect("guard 4", hook.NoOpinion)
	write(t, filepath.Join(f.Dir, "acme", "guard.json"), "")
	expect("guard 0", hook.Deny)
}

func TestSessionsDoNotKeepAGuardOfTheFleet(t *testing.T) {
	f := policytest.New(t)
	f.Apply("guard", 1, policytest.Deny)
	reg := open(t, inFleet(t, f, ""))
	reg.PinSession("s", nil)
	call := bash("ls")
	call.SessionID = "s"
	if out := dispatch(t, reg, call); out.Verdict != hook.Deny {
		t.Fatal(out.Verdict)
	}
	f.Apply("guard", 2, `{}`)
	ruledBy(t, reg, hook.NoOpinion)
	if out := dispatch(t, reg, call); out.Verdict != hook.NoOpinion {
		t.Errorf("the session keeps it: %v %s", out.Verdict, out.Reason)
	}
}

func TestAPolicyThatWasTamperedWithBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string, f *policytest.Fleet)
		code string
	}{
		"removed": {func(t *testing.T, dir string, _ *policytest.Fleet) {
			if err := os.Remove(filepath.Join(dir, "guard.json")); err != nil {
				t.Fatal(err)
			}
		}, fleetpolicy.CodeMissing},
		"an older one": {func(t *testing.T, dir string, f *policytest.Fleet) {
			write(t, filepath.Join(dir, "guard.json"), string(f.Sign(policytest.Document("guard", 1, `{}`), "oncall")))
		}, fleetpolicy.CodeOlder},
		"emptied": {func(t *testing.T, dir string, _ *policytest.Fleet) { write(t, filepath.Join(dir, "guard.json"), "") }, fleetpolicy.CodeMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			f := policytest.New(t)
			f.Apply("guard", 2, `{}`)
			reg := open(t, inFleet(t, f, ""))
			ruledBy(t, reg, hook.NoOpinion)
			c.do(t, filepath.Join(f.Dir, "acme"), f)
			out := ruledBy(t, reg, hook.Deny)
			if out.Results[0].Hook.ID != "user/fleet-guard/broken" || !strings.Contains(out.Reason, "guard.json") {
				t.Errorf("%s: %s", out.Results[0].Hook.ID, out.Reason)
			}
			codes := func(reg *registry.Registry) (codes []string) {
				for _, d := range reg.Diagnostics() {
					codes = append(codes, d.Code)
				}
				return codes
			}
			if got := codes(reg); !slices.Contains(got, c.code) {
				t.Errorf("diagnostics %v, want %s", got, c.code)
			}
			f.Apply("guard", 3, `{}`)
			ruledBy(t, reg, hook.NoOpinion)
			if got := codes(reg); slices.Contains(got, c.code) {
				t.Errorf("diagnostics %v after a good one", got)
			}
		})
	}
}

func TestAStaleOrUnknownPolicyDoesWhatTheSettingsSay(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for word, want := range map[string]hook.Verdict{"keep": hook.NoOpinion, "ask": hook.Ask, "block": hook.Deny} {
		t.Run(word, func(t *testing.T) {
			f := policytest.New(t)
			delete(f.Says, "release") // no one may sign for packs, so none is missed
			reg := open(t, inFleet(t, f, fmt.Sprintf("on_unknown = %q\n", word)))
			if out := dispatch(t, reg, bash("ls")); out.Verdict != want {
				t.Errorf("unknown: %v, want %v", out.Verdict, want)
			}
			if out := dispatch(t, open(t, inFleet(t, f, fmt.Sprintf("on_stale = %q\n", word))), bash("ls")); out.Verdict != hook.NoOpinion {
				t.Errorf("on_stale of an unknown one: %v", out.Verdict)
			}
			expires := time.Now().Add(400 * time.Millisecond)
			f.ApplyUntil(expires, `{"hooks":{"PreToolUse":[{"type":"rule","matcher":"Write","decision":"deny","reason":"no"}]}}`)
			reg = open(t, inFleet(t, f, fmt.Sprintf("on_stale = %q\n", word)))
			if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.NoOpinion && time.Now().Before(expires) {
				t.Errorf("known: %v", out.Verdict)
			}
			time.Sleep(time.Until(expires))
			ruledBy(t, reg, want) // nothing but the time has changed
			if out := dispatch(t, reg, hook.PreToolUse{ToolName: "Write"}); out.Verdict != hook.Deny {
				t.Errorf("an expired policy is in force no more: %v", out.Verdict)
			}
			got := states(reg)
			for until := time.Now().Add(15 * time.Second); got != "guard stale 2" && time.Now().Before(until); got = states(reg) {
				time.Sleep(5 * time.Millisecond)
			}
			if got != "guard stale 2" {
				t.Error(got)
			}
		})
	}
}

func TestAFleetJoinsTheManagedFolderAndTakesNothingFromIt(t *testing.T) {
	needsRoot(t)
	for channel, settings := range map[string]string{
		"guard": `{"disabled":["managed/own","user/mine"]}`,
		"packs": `{"disable_all_hooks":true,"disabled":["managed/own"]}`,
		"empty": `{}`,
	} {
		f := policytest.New(t)
		if channel != "empty" {
			f.Apply(channel, 1, settings)
		} else {
			f.Apply("guard", 1, `{}`)
			f.Apply("packs", 1, `{}`)
		}
		opts := machine(t, "")
		write(t, filepath.Join(opts.ManagedDir, "settings.toml"), f.TOML(""))
		write(t, filepath.Join(opts.ManagedDir, "hooks", "own", "HOOK.md"), fmt.Sprintf(ruled, "name = \"own\"\n"))
		write(t, filepath.Join(opts.UserDir, "hooks", "mine", "HOOK.md"), fmt.Sprintf(ruled, "name = \"mine\"\n"))
		reg := open(t, opts)
		ready := make(map[string]hook.State)
		for _, l := range reg.List() {
			ready[l.Hook.ID] = l.State
		}
		mine := hook.StateDisabled
		if channel == "empty" {
			mine = hook.StateReady
		}
		if ready["managed/own"] != hook.StateReady || ready["user/mine"] != mine {
			t.Errorf("%s: %v", channel, ready)
		}
	}
}

func TestAFleetOfTheManagedSettingsCountsAsManagedAndAloneThen(t *testing.T) {
	needsRoot(t)
	f, own := policytest.New(t), policytest.New(t)
	f.Apply("guard", 1, policytest.Deny)
	own.Apply("packs", 1, `{"disable_all_hooks":true}`)
	opts := machine(t, "")
	write(t, filepath.Join(opts.ManagedDir, "settings.toml"), f.TOML(""))
	write(t, filepath.Join(opts.UserDir, "settings.toml"), "disable_all_hooks = true\ndisabled = [\"managed/fleet-guard/stop\"]\n"+own.TOML(""))
	opts.NoHooks = true
	reg := open(t, opts)
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || out.Results[0].Hook.ID != "managed/fleet-guard/stop" {
		t.Errorf("%v %+v", out.Verdict, out.Results)
	}
	if got := states(reg); got != "packs unknown 0, guard known 1" {
		t.Error(got)
	}
	var ignored bool
	for _, d := range reg.Diagnostics() {
		ignored = ignored || d.Code == "setting_ignored" && strings.HasPrefix(d.Path, opts.UserDir)
	}
	if !ignored {
		t.Errorf("nobody says that the user's fleet does not count: %v", reg.Diagnostics())
	}
}

func TestAFleetNamesThePacksThatRun(t *testing.T) {
	files := map[string]string{"deny/HOOK.md": fmt.Sprintf(ruled, "")}
	f := policytest.New(t)
	opts := inFleet(t, f, "")
	packtest.Put(t, opts.StateDir, files)
	reg := open(t, opts)
	ruledBy(t, reg, hook.NoOpinion)
	f.Apply("packs", 1, `{"packs":["registry.example.com/team/guards@`+packtest.Digest(files)+`"]}`)
	if out := ruledBy(t, reg, hook.Deny); out.Results[0].Hook.ID != "plugin/guards/deny" {
		t.Error(out.Results[0].Hook.ID)
	}
	f.Apply("guard", 1, `{"disabled":["plugin/guards/deny"]}`)
	ruledBy(t, reg, hook.NoOpinion)
}

func TestAWorkspaceAndANamedFolderNameNoFleet(t *testing.T) {
	f := policytest.New(t)
	f.Apply("guard", 1, policytest.Deny)
	opts := machine(t, "")
	dir := t.TempDir()
	opts.Dirs = []string{dir}
	write(t, filepath.Join(dir, "settings.toml"), f.TOML(""))
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.toml"), f.TOML(""))
	reg := open(t, opts)
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.NoOpinion || len(reg.Policies()) != 0 {
		t.Errorf("%v, %v", out.Verdict, reg.Policies())
	}
	said := 0
	for _, d := range reg.Diagnostics() {
		if d.Code == "setting_ignored" && strings.HasPrefix(d.Message, "fleet ") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("%d of 2 are said: %v", said, reg.Diagnostics())
	}
}

func TestSettingsThatMisspellAFleetBlock(t *testing.T) {
	f := policytest.New(t)
	for name, text := range map[string]string{
		"a key":     strings.Replace(f.TOML(""), `"ed25519:`, `"ed25519:x`, 1),
		"a channel": strings.Replace(f.TOML(""), `"guard"`, `"gaurd"`, 1),
		"a word":    f.TOML(`on_stale = "blok"`),
		"a name":    strings.Replace(f.TOML(""), `"acme"`, `"../acme"`, 1),
		"no keys":   "[fleet]\nname = \"acme\"\n",
		"a list":    "fleet = []\n",
		"a typo":    f.TOML(`on_stael = "block"`),
		"a folder":  "[fleet]\nname = \"acme\"\ndir = \"here\"\n" + f.TOML("")[strings.Index(f.TOML(""), "[fleet.keys"):],
	} {
		opts := machine(t, "")
		write(t, filepath.Join(opts.UserDir, "settings.toml"), text)
		reg := open(t, opts)
		if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || !strings.Contains(out.Reason, "fleet") {
			t.Errorf("%s: %v %s", name, out.Verdict, out.Reason)
		}
		if store, settings := reg.Fleet(); store != nil || settings.Name != "" {
			t.Errorf("%s: a fleet that cannot be relied on: %+v", name, settings)
		}
	}
}

func TestReloadsOfAFleetThatDidNotChangeChangeNothing(t *testing.T) {
	f := policytest.New(t)
	f.Apply("guard", 1, policytest.Deny)
	reg := open(t, inFleet(t, f, ""))
	for range 3 {
		if changed := reload(t, reg); changed.Any() {
			t.Errorf("%s", summary(changed))
		}
	}
	f.Apply("guard", 2, `{}`)
	if changed := reload(t, reg); !slices.Equal(changed.Removed, []string{"user/fleet-guard/stop"}) || !changed.Settings {
		t.Errorf("%s", summary(changed))
	}
}

func TestDispatchesWhileAPolicyChangesSeeOneOrTheOther(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	f := policytest.New(t)
	f.Apply("guard", 1, policytest.Deny)
	reg := open(t, inFleet(t, f, ""))
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				out, err := reg.Dispatch(t.Context(), bash("ls"))
				if err != nil || out.Verdict == hook.Deny && out.Reason != "incident 7" {
					t.Errorf("%v, %+v", err, out)
					return
				}
			}
		})
	}
	for v := range int64(6) {
		f.Apply("guard", v+2, map[bool]string{true: policytest.Deny, false: `{}`}[v%2 == 0])
		time.Sleep(40 * time.Millisecond)
	}
	stop()
	wg.Wait()
}

func TestWatchSeesAPolicyOfTheFleet(t *testing.T) {
	f := policytest.New(t)
	reg := open(t, inFleet(t, f, ""))
	seen := make(chan []string, 64)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- reg.Watch(ctx, func(c *registry.Reloaded) { seen <- c.Added })
	}()
	f.Apply("guard", 1, policytest.Deny)
	select {
	case added := <-seen:
		if !slices.Contains(added, "user/fleet-guard/stop") {
			t.Errorf("added %v", added)
		}
	case <-time.After(15 * time.Second):
		t.Error("nothing is seen")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
