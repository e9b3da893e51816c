package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// await waits until reloads have told of a change. Several may come of one, as
// the watch sees it half done.
func await(t *testing.T, told <-chan *registry.Reloaded, want string) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case c := <-told:
			if summary(c) == want {
				return
			}
			t.Logf("told of %q before %q", summary(c), want)
		case <-limit:
			t.Fatalf("not told of %q", want)
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
	file := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md") // none of its folders exists
	write(t, file, fmt.Sprintf(says, "a"))
	await(t, told, "+user/a")
	write(t, file, fmt.Sprintf(says, "b"))
	await(t, told, "~user/a")
	write(t, filepath.Join(home, ".claude", "settings.json"), handlers("PreToolUse", "true"))
	await(t, told, "+user/claude/settings.json:PreToolUse[0].0 settings")
	write(t, filepath.Join(opts.PluginsDir, "pack", "hooks", "p", "HOOK.md"), fmt.Sprintf(says, "p"))
	await(t, told, "+plugin/pack/p")
	if err := os.RemoveAll(opts.UserDir); err != nil {
		t.Fatal(err)
	}
	await(t, told, "-user/a")
	write(t, file, fmt.Sprintf(says, "c"))
	await(t, told, "+user/a")
}

func TestWatchEndsWithTheRegistry(t *testing.T) {
	reg := open(t, machine(t, ""))
	ended := make(chan error, 1)
	go func() { ended <- reg.Watch(context.Background(), nil) }()
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

// Whose word settings are depends on who can write their folder.
func TestF5WatchSeesThatAFolderIsOthersToWrite(t *testing.T) {
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
