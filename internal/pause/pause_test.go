package pause_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/trust"
)

func TestPauseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pause.Open(t.TempDir())
		if err := l.Set(t.Context(), pause.Pause{Hook: "user/guard", Since: time.Now(), Until: time.Now().Add(time.Hour), Reason: "migration"}); err != nil {
			t.Fatal(err)
		}
		if p, off := l.Of("user/guard", "/h/HOOK.md"); !off || p.Reason != "migration" {
			t.Errorf("got %+v, %v", p, off)
		}
		if _, off := l.Of("user/other", "/h/HOOK.md"); off {
			t.Error("another hook is off")
		}
		time.Sleep(time.Hour)
		if _, off := l.Of("user/guard", "/h/HOOK.md"); off {
			t.Error("it is off after its end")
		}
		if all, err := l.All(); len(all) != 0 || err != nil {
			t.Errorf("got %v, %v", all, err)
		}
	})
}

func TestPauseOfAnotherProcessCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	ours, theirs := pause.Open(dir), pause.Open(dir)
	if _, off := ours.Of("user/guard", "/h/HOOK.md"); off {
		t.Fatal("off before anything was paused")
	}
	if err := theirs.Set(t.Context(), pause.Pause{Hook: "user/guard"}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, off := ours.Of("user/guard", "/h/HOOK.md"); off {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is still on")
		}
	}
	if was, err := theirs.Remove(t.Context(), "user/guard", "/h/HOOK.md"); !was || err != nil {
		t.Errorf("removed %v, %v", was, err)
	}
	if was, err := theirs.Remove(t.Context(), "user/guard", "/h/HOOK.md"); was || err != nil {
		t.Errorf("removed twice: %v, %v", was, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "disabled.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a list without pauses has left its file: %v", err)
	}
}

func TestListThatCannotBeReliedOnPausesNothing(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"damaged":           func(path string) error { return os.WriteFile(path, []byte("[{"), 0o600) },
		"others can write":  func(path string) error { return os.Chmod(path, 0o666) },
		"a folder in place": func(path string) error { _ = os.Remove(path); return os.Mkdir(path, 0o700) },
	} {
		if name == "others can write" && runtime.GOOS == "windows" {
			continue // no mode says so there
		}
		dir := t.TempDir()
		if err := pause.Open(dir).Set(t.Context(), pause.Pause{Hook: "user/guard"}); err != nil {
			t.Fatal(err)
		}
		if err := spoil(filepath.Join(dir, "disabled.json")); err != nil {
			t.Fatal(err)
		}
		l := pause.Open(dir)
		if _, off := l.Of("user/guard", "/h/HOOK.md"); off || l.Err() == nil {
			t.Errorf("%s: off %v, %v", name, off, l.Err())
		}
		if err := l.Set(t.Context(), pause.Pause{Hook: "user/other"}); err == nil {
			t.Errorf("%s: it was changed", name)
		}
	}
}

// Two projects may have a hook of one name. A link to a project is that project.
func TestPauseIsOfTheHookThatItsFileDeclares(t *testing.T) {
	built.NeedsLinks(t)
	dir := t.TempDir()
	one, two, link := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "link")
	for _, d := range []string{one, two} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "HOOK.md"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(one, link); err != nil {
		t.Skip("no links here, as on Windows:", err)
	}
	l := pause.Open(dir)
	is := func(source string) bool {
		_, off := l.Of("project/guard", filepath.Join(source, "HOOK.md"))
		return off
	}
	for _, source := range []string{one, link} {
		if err := l.Set(t.Context(), pause.Pause{Hook: "project/guard", Source: filepath.Join(source, "HOOK.md")}); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := l.All(); len(all) != 1 || err != nil {
		t.Errorf("got %v, %v", all, err)
	}
	if !is(one) || !is(link) || is(two) {
		t.Errorf("off: one %v, its link %v, two %v", is(one), is(link), is(two))
	}
	if was, err := l.Remove(t.Context(), "project/guard", filepath.Join(two, "HOOK.md")); was || err != nil {
		t.Errorf("removed %v, %v", was, err)
	}
	if was, err := l.Remove(t.Context(), "project/guard", filepath.Join(link, "HOOK.md")); !was || err != nil || is(one) {
		t.Errorf("removed %v, %v", was, err)
	}
}

func TestAClockThatWasSetBackEndsAPauseOfATime(t *testing.T) {
	for name, tt := range map[string]struct {
		since time.Duration // from now
		until time.Duration // 0 = until it is enabled
		want  bool
	}{
		"now":                             {0, time.Hour, true},
		"a clock that was put right":      {30 * time.Second, time.Hour, true},
		"an hour back":                    {time.Hour, 2 * time.Hour, false},
		"an hour back, without an end":    {time.Hour, 0, true},
		"a day ahead of a pause":          {-25 * time.Hour, -24 * time.Hour, false},
		"a day ahead, and without an end": {-25 * time.Hour, 0, true},
	} {
		l := pause.Open(t.TempDir())
		p := pause.Pause{Hook: "user/guard", Since: time.Now().Add(tt.since)}
		if tt.until != 0 {
			p.Until = time.Now().Add(tt.until)
		}
		if err := l.Set(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if _, got := l.Of("user/guard", ""); got != tt.want {
			t.Errorf("%s: paused %v, want %v", name, got, tt.want)
		}
	}
}

func TestChangeThatWaitsEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	l := pause.Open(dir)
	if err := l.Set(t.Context(), pause.Pause{Hook: "user/guard"}); err != nil {
		t.Fatal(err)
	}
	locks, err := filepath.Glob(filepath.Join(dir, "*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	other := flock.New(locks[0])
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Remove(ctx, "user/guard", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the time is over", err)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if was, err := l.Remove(t.Context(), "user/guard", ""); !was || err != nil {
		t.Errorf("got %v, %v", was, err)
	}
}

// Root with the environment of another user must leave nothing that this user could not use.
func TestARefusedPauseWritesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows: access lists are not judged, so nothing is refused")
	}
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	var notOwned *trust.Problem
	if err := pause.Open(filepath.Join(shared, "state")).Set(t.Context(), pause.Pause{Hook: "user/guard"}); !errors.As(err, &notOwned) {
		t.Error(err)
	}
	if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestALockThatCannotBeOpenedIsNotSaidToBeHeld(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "disabled.json.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := pause.Open(dir).Set(t.Context(), pause.Pause{Hook: "user/guard"})
	if err == nil || strings.Contains(err.Error(), "holds") || !strings.Contains(err.Error(), "let the user who runs the agent write there") {
		t.Error(err)
	}
}
