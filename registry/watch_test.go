package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/registry"
)

// watch runs Watch and returns what it tells, and a wait for its end.
func watch(t *testing.T, reg *registry.Registry) (told <-chan *registry.Reloaded, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changes, done := make(chan *registry.Reloaded, 16), make(chan error, 1)
	go func() { done <- reg.Watch(ctx, func(c *registry.Reloaded) { changes <- c }) }()
	end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return changes, end
}

// await waits until reloads have told of each of some changes. One write may come
// to several reloads, since the watch may see it half done: a folder without its
// file, a file without its end.
func await(t *testing.T, told <-chan *registry.Reloaded, want string) {
	t.Helper()
	missing := strings.Fields(want)
	limit := time.After(60 * time.Second)
	for {
		select {
		case c := <-told:
			if !slices.IsSortedFunc(c.States, func(a, b registry.StateChange) int {
				return strings.Compare(a.ID+" "+string(a.Event), b.ID+" "+string(b.Event))
			}) {
				t.Errorf("not in order: %+v", c.States)
			}
			for _, s := range c.States {
				if s.From == s.To || s.From == "" || s.ID == "" || s.Event == "" {
					t.Errorf("no change of a state: %+v", s)
				}
			}
			for _, part := range append(strings.Fields(summary(c)), statesOf(c)...) {
				missing = slices.DeleteFunc(missing, func(s string) bool { return s == part })
			}
			if len(missing) == 0 {
				return
			}
			t.Logf("told of %q before %q", summary(c), want)
		case <-limit:
			t.Fatalf("not told of %q of %q", missing, want)
		}
	}
}

// statesOf writes the states that changed as id:state.
func statesOf(c *registry.Reloaded) (list []string) {
	for _, s := range c.States {
		list = append(list, s.ID+":"+string(s.To))
	}
	return list
}

// The oracle of the watch: what it tells of an approval is what a dispatch does.
func TestWatchReportsAnApprovalThatEndsAndOneThatIsGiven(t *testing.T) {
	opts := machine(t, `
-- w/.tenterhook/hooks/guard/HOOK.md --
+++
events = ["Stop", "PreToolUse", "UserPromptSubmit", "PostToolUse"]
command = "./guard.sh"
+++
-- w/.tenterhook/hooks/guard/guard.sh --
#!/bin/sh
exit 2
-- w/tools/check.sh --
#!/bin/sh
exit 2
-- w/.tenterhook/settings.json --
`+handlers("PreToolUse", "sh tools/check.sh")+`
`)
	chmod(t, filepath.Join(opts.Workspace, ".tenterhook/hooks/guard/guard.sh"), 0o755)
	reg := open(t, opts)
	other := open(t, opts) // another process approves
	told, end := watch(t, reg)
	defer end()
	id := func(suffix string) string {
		for _, l := range reg.List() {
			if strings.HasSuffix(l.Hook.ID, suffix) {
				return l.Hook.ID
			}
		}
		t.Fatalf("no hook %s in %v", suffix, reg.List())
		return ""
	}
	guard, check := id("guard"), id("[0].0")
	time.Sleep(300 * time.Millisecond) // until it watches
	approve(t, other)
	await(t, told, guard+":ready "+check+":ready")
	write(t, filepath.Join(opts.Workspace, ".tenterhook/hooks/guard/guard.sh"), "#!/bin/sh\nexit 0 # edited\n")
	await(t, told, guard+":untrusted")
	write(t, filepath.Join(opts.Workspace, "tools/check.sh"), "exit 0 # edited\n")
	await(t, told, check+":untrusted")
	for _, r := range dispatch(t, reg, bash("ls")).Results {
		if r.Failure != hook.FailureUntrusted {
			t.Errorf("%s: %s", r.Hook.ID, r.Status)
		}
	}
}

func TestWatchReloadsWhatAppearsChangesAndGoes(t *testing.T) {
	opts := machine(t, "")
	opts.Compat = []string{"claude"}
	home := filepath.Join(filepath.Dir(opts.Workspace), "home")
	reg := open(t, opts)
	told, end := watch(t, reg)
	defer end()
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.toml"), "max_async = 3\n")
	await(t, told, "settings")
	time.Sleep(300 * time.Millisecond)                           // until it watches
	file := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md") // none of its folders exists
	write(t, file, fmt.Sprintf(says, "a"))
	await(t, told, "+user/a")
	write(t, file, fmt.Sprintf(says, "b"))
	await(t, told, "~user/a")
	write(t, filepath.Join(home, ".claude", "settings.json"), handlers("PreToolUse", "true"))
	await(t, told, "+user/claude/settings.json:PreToolUse[0].0 settings")
	write(t, filepath.Join(opts.PluginsDir, "pack", "hooks", "p", "HOOK.md"), fmt.Sprintf(says, "p"))
	await(t, told, "+plugin/pack/p")
	gone := opts.UserDir
	if built.UnderWine() { // it removes no folder that is watched
		gone = file
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	await(t, told, "-user/a")
	write(t, file, fmt.Sprintf(says, "c"))
	await(t, told, "+user/a")
}

func TestWatchEndsWithTheRegistry(t *testing.T) {
	for _, watches := range []bool{false, true} {
		opts := machine(t, "")
		reg := open(t, opts)
		ended, told := make(chan error, 1), make(chan *registry.Reloaded, 16)
		go func() { ended <- reg.Watch(context.Background(), func(c *registry.Reloaded) { told <- c }) }()
		if watches {
			write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), fmt.Sprintf(says, "a"))
			await(t, told, "+user/a")
			time.Sleep(300 * time.Millisecond) // until it waits
		}
		if err := reg.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("it goes on")
		}
	}
}

// Whose word settings are depends on who can write their folder.
func TestF5WatchSeesThatAFolderIsOthersToWrite(t *testing.T) {
	built.NotOnWindows(t, "no mode says who may write, and access lists are not judged")
	if testing.Short() {
		t.Skip("it takes long")
	}
	opts := machine(t, "")
	opts.Compat = []string{"claude"}
	folder := filepath.Join(filepath.Dir(opts.Workspace), "home", ".claude")
	write(t, filepath.Join(folder, "settings.json"), handlers("PreToolUse", "exit 2"))
	reg := open(t, opts)
	told, end := watch(t, reg)
	defer end()
	for _, mode := range []os.FileMode{0o777, 0o755} {
		time.Sleep(300 * time.Millisecond) // until it watches
		chmod(t, folder, mode)
		await(t, told, "~user/claude/settings.json:PreToolUse[0].0 settings")
	}
}

func TestWatchSeesAHookThatAppearsInAFolderThatHadNone(t *testing.T) {
	opts := machine(t, "")
	hooks := filepath.Join(opts.UserDir, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	told, end := watch(t, open(t, opts))
	defer end()
	settle()
	settle()
	write(t, filepath.Join(hooks, "a", "HOOK.md"), fmt.Sprintf(says, "a"))
	await(t, told, "+user/a")
}
