package plugins

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/plugins/proto"
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
	hooks, notes := described(b.host, b.dir)
	if len(hooks) != 0 || len(notes) != 1 || notes[0].Code != CodeNew || notes[0].Path != path || notes[0].Hint == "" ||
		notes[0].Message != "the plugin of package guard was not asked yet which hooks it has" {
		t.Fatalf("before it was asked: %v, %v", hooks, notes)
	}
	b.trust()
	pkg, _ := b.host.Package(b.dir)
	if len(pkg.Plugins) != 1 || pkg.Plugins[0].State != StateStopped || pkg.Plugins[0].Hooks != 1 || pkg.Version != "1.0.0" {
		t.Fatalf("approved: %+v", pkg)
	}
	check := func(h *Host, want ...string) {
		t.Helper()
		hooks, notes := described(h, b.dir)
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
	if notes := b.host.Check(&hook.Call{Hook: b.hook()}); len(notes) != 1 || notes[0].Code != CodeUntrusted {
		t.Errorf("not approved: %v", codesOf(notes))
	}
	b.trust()
	if notes := b.host.Check(&hook.Call{Hook: b.hook()}); len(notes) != 0 {
		t.Errorf("got %v", notes)
	}
	hk := b.hook()
	hk.Params = hook.Params{"hook": json.RawMessage(`"other"`)}
	if notes := b.host.Check(&hook.Call{Hook: hk}); len(notes) != 1 || notes[0].Code != CodeHook || notes[0].Hint != "it has: fault" || notes[0].Severity != hook.SeverityError {
		t.Errorf("got %v", notes)
	}
}

func TestBinaryThatOthersCanWriteIsRefused(t *testing.T) {
	built.NotOnWindows(t, "no mode says who may write, and access lists are not judged")
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
		if notes := b.host.Check(&hook.Call{Hook: b.hook()}); len(notes) != 1 || notes[0].Code != CodeUntrusted {
			t.Errorf("got %v", notes)
		}
	})
}

func TestDamagedApprovalsApproveNothing(t *testing.T) {
	b := newBench(t).good()
	for _, text := range []string{"{", `{"version":9}`, `{"version":1,"approvals":[{"id":"x"}]}`, `{"version":1,"version":1}`} {
		if err := os.WriteFile(b.approvals(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := b.call(do{Do: "version"})
		expectCode(t, err, CodeApprovals)
	}
}

// A plugin whose binary changed keeps its hooks, which fail, although the approvals are
// gone or unusable: nothing else would say that there is a guard.
func TestChangedPluginKeepsItsHooksWithoutAnApproval(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	spoil := map[string]func(b *bench, file string) error{
		"gone":    func(_ *bench, file string) error { return os.Remove(file) },
		"damaged": func(_ *bench, file string) error { return os.WriteFile(file, []byte("{"), 0o600) },
		"others":  func(_ *bench, file string) error { return os.Chmod(file, 0o666) },
	}
	for name, spoil := range spoil {
		for _, binary := range []string{"changed", "gone"} {
			b := newBench(t)
			path := b.install("fault", "good")
			b.trust()
			if err := spoil(b, b.approvals()); err != nil {
				t.Fatal(err)
			}
			if binary == "changed" {
				b.install("fault", "second")
			} else if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			hooks, notes := described(b.open(), b.dir)
			if len(hooks) != 1 || hooks[0].Name != "fault" || hooks[0].OnFailure != hook.FailureBlock || hooks[0].Matcher != "Bash" || len(notes) == 0 {
				t.Errorf("approvals %s, binary %s: %v %v", name, binary, hooks, codesOf(notes))
			}
		}
	}
}

// If the descriptions are lost too, a hook that blocks every event stands for what
// was approved, or may have been. A plugin that was never approved has no say.
func TestApprovedPluginOfUnknownHooksBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for name, spoil := range map[string]func(b *bench) error{
		"no descriptions":   func(*bench) error { return nil },
		"damaged approvals": func(b *bench) error { return os.WriteFile(b.approvals(), []byte("{"), 0o600) },
	} {
		b := newBench(t)
		b.install("fault", "good")
		b.trust()
		if err := os.RemoveAll(filepath.Join(b.state, "plugins", "describe")); err != nil {
			t.Fatal(err)
		}
		if err := spoil(b); err != nil {
			t.Fatal(err)
		}
		hooks, notes := described(b.open(), b.dir)
		if len(hooks) != 1 || hooks[0].State != hook.StateInvalid || hooks[0].Event != "" || hooks[0].OnFailure != hook.FailureBlock || len(notes) == 0 {
			t.Errorf("%s: %v %v", name, hooks, codesOf(notes))
		}
	}
}

// A description that is damaged is told from one that was not asked for.
func TestDescriptionThatCannotBeReadIsNamedAsTheTrouble(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(path string) error
		want  string
	}{
		"torn":     {func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, "what it said of itself cannot be read any more"},
		"a folder": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "what it said of itself cannot be read: "},
	} {
		b := newBench(t)
		path := b.install("fault", "good")
		b.trust()
		must(t, tc.spoil(b.host.descriptionPath(b.sum(path))))
		hooks, notes := described(b.open(), b.dir)
		if len(hooks) != 1 || len(notes) != 1 || !strings.HasPrefix(notes[0].Message, tc.want) || !strings.Contains(hooks[0].Why, tc.want) {
			t.Errorf("%s: %v %v, want %q", name, hooks, notes, tc.want)
		}
	}
}

func TestDescriptionOfTheLargestSizeCanBeReadBack(t *testing.T) {
	d := &proto.DescribeResponse{}
	text := strings.Repeat("\x01", 4<<10)
	for range 250 {
		d.Hooks = append(d.Hooks, &proto.Hook{Name: "a", Event: "Stop", Description: text, Matcher: text, If: []string{text}, StatusMessage: text})
	}
	h := &Host{options: Options{StateDir: t.TempDir()}}
	if err := h.keepDescription(someDigest, d); err != nil {
		t.Fatal(err)
	}
	if again, p := h.recall("/p", someDigest); p != nil || len(again.GetHooks()) != 250 {
		t.Errorf("it cannot: %v", p)
	}
}

func TestUnknownEventIsTold(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	b.pin(path)
	sum := b.sum(path)
	d := &proto.DescribeResponse{Hooks: []*proto.Hook{{Name: "known", Event: "Stop"}, {Name: "own", Event: "DeployBegins"}}}
	if err := b.host.keepDescription(sum, d); err != nil {
		t.Fatal(err)
	}
	hooks, notes := described(b.host, b.dir)
	if len(hooks) != 2 || len(notes) != 1 || notes[0].Code != "unknown_event" || notes[0].Severity != hook.SeverityWarning || !strings.Contains(notes[0].Message, "DeployBegins") {
		t.Errorf("got %v, %v", hooks, notes)
	}
}
