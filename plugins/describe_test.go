package plugins

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

func codesOf(notes []hook.Diagnostic) []string {
	var all []string
	for _, n := range notes {
		all = append(all, n.Code)
	}
	return all
}

func TestDescribeStartsNothingAndKeepsWhatWasApproved(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	if hooks, notes := b.host.Describe("guard", b.dir); len(hooks) != 0 || len(notes) != 1 || notes[0].Code != CodeNew {
		t.Fatalf("before the lock: %v, %v", hooks, codesOf(notes))
	}
	pkg, err := b.host.Lock(t.Context(), b.dir)
	if err != nil || len(pkg.Plugins) != 1 || pkg.Plugins[0].State != StateStopped || pkg.Plugins[0].Hooks != 1 || pkg.Version != "1.0.0" {
		t.Fatalf("locked: %+v, %v", pkg, err)
	}
	check := func(h *Host, want ...string) {
		t.Helper()
		hooks, notes := h.Describe("guard", b.dir)
		if len(hooks) != 1 || len(notes) != len(want) || len(want) == 1 && notes[0].Code != want[0] {
			t.Fatalf("got %v, %v, want %v", hooks, codesOf(notes), want)
		}
		if hk := hooks[0]; hk.Name != "fault" || hk.Matcher != "Bash" || hk.OnFailure != hook.FailureBlock || hk.Timeout != 5*time.Second || hk.Kind != hook.KindPlugin {
			t.Errorf("got %+v", hk)
		}
	}
	fresh := b.open()
	check(fresh)
	if len(fresh.units) != 0 {
		t.Error("loading started something")
	}
	b.install("fault", "second")
	check(b.host, CodeChanged)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check(b.host, CodeMissing)
}

func TestCheckFindsAHookThatThePluginLacks(t *testing.T) {
	b := newBench(t)
	b.install("fault", "good")
	if notes := b.host.Check(&hook.Call{Hook: b.hook()}); len(notes) != 1 || notes[0].Code != CodeUnlocked {
		t.Errorf("unlocked: %v", codesOf(notes))
	}
	if _, err := b.host.Lock(t.Context(), b.dir); err != nil {
		t.Fatal(err)
	}
	if notes := b.host.Check(&hook.Call{Hook: b.hook()}); len(notes) != 0 {
		t.Errorf("got %v", notes)
	}
	hk := b.hook()
	hk.Params = hook.Params{"hook": json.RawMessage(`"other"`)}
	if notes := b.host.Check(&hook.Call{Hook: hk}); len(notes) != 1 || notes[0].Code != CodeHook {
		t.Errorf("got %v", codesOf(notes))
	}
}

func TestBinaryThatOthersCanWriteIsRefused(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	b.pin(path)
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.call(do{Do: "version"})
	expectCode(t, err, CodeUnsafe)
}

func TestPluginThatNobodyApprovedIsNotRead(t *testing.T) {
	b := newBench(t)
	if err := os.Truncate(b.install("fault", "good"), 64<<30); err != nil { // of zeros, on no disk
		t.Skip("no large files here:", err)
	}
	within(t, 15*time.Second, "the refusal", func() {
		if notes := b.host.Check(&hook.Call{Hook: b.hook()}); len(notes) != 1 || notes[0].Code != CodeUnlocked {
			t.Errorf("got %v", notes)
		}
	})
}

func TestDamagedLockApprovesNothing(t *testing.T) {
	b := newBench(t).good()
	for _, text := range []string{"{", `{"version":9}`, `{"version":1,"plugins":{"x":{"sha256":"zz"}}}`, `{"version":1,"version":1}`} {
		if err := os.WriteFile(b.host.options.LockFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := b.call(do{Do: "version"})
		expectCode(t, err, CodeLock)
	}
}

// A plugin whose binary changed keeps its hooks, which fail, although the lock is
// gone or unusable: nothing else would say that there is a guard.
func TestChangedPluginKeepsItsHooksWithoutALock(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	spoil := map[string]func(b *bench, lock string) error{
		"gone":    func(_ *bench, lock string) error { return os.Remove(lock) },
		"damaged": func(_ *bench, lock string) error { return os.WriteFile(lock, []byte("{"), 0o600) },
		"others":  func(_ *bench, lock string) error { return os.Chmod(lock, 0o666) },
	}
	for name, spoil := range spoil {
		for _, binary := range []string{"changed", "gone"} {
			b := newBench(t)
			path := b.install("fault", "good")
			if _, err := b.host.Lock(t.Context(), b.dir); err != nil {
				t.Fatal(err)
			}
			if err := spoil(b, b.host.options.LockFile); err != nil {
				t.Fatal(err)
			}
			if binary == "changed" {
				b.install("fault", "second")
			} else if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			hooks, notes := b.open().Describe("guard", b.dir)
			if len(hooks) != 1 || hooks[0].Name != "fault" || hooks[0].OnFailure != hook.FailureBlock || hooks[0].Matcher != "Bash" || len(notes) == 0 {
				t.Errorf("lock %s, binary %s: %v %v", name, binary, hooks, codesOf(notes))
			}
		}
	}
}

// If the descriptions are lost too, a hook that blocks every event stands for what
// the lock approves, or may approve. A plugin that was never approved has no say.
func TestApprovedPluginOfUnknownHooksBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for name, spoil := range map[string]func(b *bench) error{
		"no descriptions": func(*bench) error { return nil },
		"a damaged lock":  func(b *bench) error { return os.WriteFile(b.host.options.LockFile, []byte("{"), 0o600) },
	} {
		b := newBench(t)
		b.install("fault", "good")
		if _, err := b.host.Lock(t.Context(), b.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(b.state, "plugins", "describe")); err != nil {
			t.Fatal(err)
		}
		if err := spoil(b); err != nil {
			t.Fatal(err)
		}
		hooks, notes := b.open().Describe("guard", b.dir)
		if len(hooks) != 1 || hooks[0].State != hook.StateInvalid || hooks[0].Event != "" || hooks[0].OnFailure != hook.FailureBlock || len(notes) == 0 {
			t.Errorf("%s: %v %v", name, hooks, codesOf(notes))
		}
	}
}
