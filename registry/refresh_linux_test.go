package registry_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenterhook/tenterhook/internal/stamp"
	"github.com/tenterhook/tenterhook/registry"
)

// watched runs a test in bubbles, each with a registry of a machine whose user has a
// file that is no hook: a Refresh that looks at the files has its diagnostic. looks
// reports whether each of some calls does as wanted. Anything may happen beside the
// test that has the system report a change, such as a mount, so one of five times
// that all is as wanted is enough.
func watched(t *testing.T, test func(t *testing.T, opts registry.Options, reg *registry.Registry, looks func(want ...bool) bool) bool) {
	t.Helper()
	w, err := stamp.NewWatch()
	if err != nil {
		t.Skip(err)
	}
	defer w.Close()
	if err := w.Arm(t.TempDir()); err != nil {
		t.Skip(err)
	}
	good := false
	for i := 0; i < 5 && !good && !t.Failed(); i++ {
		synctest.Test(t, func(t *testing.T) {
			opts := machine(t, "-- home/.config/tenterhook/hooks/broken/HOOK.md --\nno frontmatter\n")
			reg := open(t, opts)
			good = test(t, opts, reg, func(want ...bool) bool {
				t.Helper()
				for i, want := range want {
					if got := len(refresh(t, reg).Diagnostics) > 0; got != want {
						t.Logf("call %d looks at the files: %v, want %v", i+1, got, want)
						return false
					}
				}
				return true
			})
		})
	}
	if !good {
		t.Error("not one of five registries looks when it is to")
	}
}

type looking = func(want ...bool) bool

func TestRefreshLooksAtNoFileForAMinuteWhileNothingChanges(t *testing.T) {
	watched(t, func(t *testing.T, opts registry.Options, reg *registry.Registry, looks looking) bool {
		quiet := looks(true, true, false, false) // a process of one call watches nothing
		time.Sleep(time.Minute - 1)
		quiet = quiet && looks(false)
		time.Sleep(time.Nanosecond)
		quiet = quiet && looks(true, false)
		write(t, filepath.Join(opts.UserDir, "hooks", "more", "HOOK.md"), "+++\n")
		return quiet && looks(true, false)
	})
}

func TestRefreshLooksAtAllFilesWhereChangesAreNotReported(t *testing.T) {
	watched(t, func(t *testing.T, opts registry.Options, reg *registry.Registry, looks looking) bool {
		good := looks(true, true, false)
		link := filepath.Join(opts.UserDir, "hooks", "link")
		if err := os.Symlink("/proc", link); err != nil {
			t.Fatal(err)
		}
		good = good && looks(true, true, true)
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		good = good && looks(true, true)
		time.Sleep(time.Nanosecond)
		return good && looks(true, false)
	})
}

// With settings that name a pack, files elsewhere count.
func TestRefreshLooksAtAllFilesWhileTheyMayLieAnywhere(t *testing.T) {
	watched(t, func(t *testing.T, opts registry.Options, reg *registry.Registry, looks looking) bool {
		good := looks(true, true, false)
		settings := filepath.Join(opts.UserDir, "settings.toml")
		write(t, settings, packs("guards", map[string]string{"deny/HOOK.md": ruled}))
		good = good && looks(true, true, true)
		write(t, settings, "")
		time.Sleep(time.Minute + 1)
		return good && looks(true, true, false)
	})
}

func TestRefreshSeesWhatACancelledOneDidNot(t *testing.T) {
	watched(t, func(t *testing.T, opts registry.Options, reg *registry.Registry, looks looking) bool {
		good := looks(true, true, false)
		write(t, filepath.Join(opts.UserDir, "hooks", "more", "HOOK.md"), fmt.Sprintf(ruled, ""))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := reg.Refresh(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := summary(refresh(t, reg)); got != "+user/more" {
			t.Errorf("the next one: %q", got)
		}
		return good
	})
}

// A guard's script may lie where nothing is watched.
func TestRefreshSeesThatTheScriptOfAPinnedGuardChanged(t *testing.T) {
	watched(t, func(t *testing.T, opts registry.Options, reg *registry.Registry, looks looking) bool {
		script := filepath.Join(t.TempDir(), "guard.sh")
		write(t, script, "exit 2")
		write(t, filepath.Join(opts.UserDir, "hooks", "guard", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"sh "+script+"\"\n+++\n")
		good := looks(true, true, false)
		reg.PinSession("s", nil)
		good = good && looks(false)
		write(t, script, "exit 0")
		changed := refresh(t, reg)
		if !slices.Equal(changed.Pinned, []string{"user/guard"}) {
			t.Errorf("the session keeps %v", changed.Pinned)
		}
		return good && looks(false)
	})
}

func TestClosedRegistryLeavesNoWatchBehind(t *testing.T) {
	watches := func() (n int) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		for _, fd := range fds {
			if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == "anon_inode:inotify" {
				n++
			}
		}
		return n
	}
	before := watches()
	reg := open(t, machine(t, ""))
	for range 3 {
		refresh(t, reg)
	}
	if err := reg.Close(); err != nil {
		t.Fatal(err)
	}
	if now := watches(); now > before {
		t.Errorf("%d watches, %d before it was opened", now, before)
	}
}
