package registry_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy/policytest"
)

// A dispatch looks at a policy ten times a second at most, and loads nothing while
// that is as it was.
func TestDispatchesLookAtThePolicyTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := policytest.New(t)
		opts := inFleet(t, f, "")
		reg := open(t, opts)
		decides := func(when string, want hook.Verdict, results int) {
			t.Helper()
			if out := dispatch(t, reg, bash("ls")); out.Verdict != want || len(out.Results) != results {
				t.Errorf("%s: %v, %d results", when, out.Verdict, len(out.Results))
			}
		}
		decides("at first", hook.NoOpinion, 0)
		f.Apply("guard", 1, policytest.Deny)
		decides("at once", hook.NoOpinion, 0)
		time.Sleep(100*time.Millisecond - 1)
		decides("before its time", hook.NoOpinion, 0)
		time.Sleep(time.Nanosecond)
		decides("after a tenth of a second", hook.Deny, 1)
		write(t, filepath.Join(opts.UserDir, "hooks", "more", "HOOK.md"), fmt.Sprintf(ruled, ""))
		time.Sleep(time.Second)
		decides("with a hook that nothing loaded", hook.Deny, 1)
		reload(t, reg)
		decides("after a reload", hook.Deny, 2)
	})
}

func TestReloadSeesThatSettingsNameAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := policytest.New(t)
		opts := machine(t, "")
		reg := open(t, opts)
		write(t, filepath.Join(opts.UserDir, "settings.toml"), f.TOML(""))
		reload(t, reg)
		f.Apply("guard", 1, policytest.Deny)
		time.Sleep(time.Second)
		if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny {
			t.Errorf("%v", out.Verdict)
		}
		write(t, filepath.Join(opts.UserDir, "settings.toml"), "")
		reload(t, reg)
		if store, _ := reg.Fleet(); store != nil || len(reg.Policies()) != 0 || dispatch(t, reg, bash("ls")).Verdict != hook.NoOpinion {
			t.Errorf("they name none: %v", reg.Policies())
		}
	})
}

func TestFleetIsThatOfTheSettingsInForce(t *testing.T) {
	if store, settings := open(t, machine(t, "")).Fleet(); store != nil || settings.Name != "" {
		t.Errorf("without one: %+v, %+v", store, settings)
	}
	f := policytest.New(t)
	store, settings := open(t, inFleet(t, f, "")).Fleet()
	if store == nil || store.Dir != f.Store().Dir || settings.Name != "acme" || settings.Dir != f.Dir {
		t.Errorf("%+v, %+v", store, settings)
	}
}
