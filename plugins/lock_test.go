package plugins

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

var someDigest = strings.Repeat("0a", 32)

func lockFileWith(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugins.lock")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLockThatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "plugins.lock")
	below, other := filepath.Join(filepath.Dir(path), "pkg", "a"), filepath.Join(t.TempDir(), "b")
	l, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Pin{SHA256: someDigest, Version: "1.0", Env: []string{"TOKEN"},
		Sandbox: &hook.Sandbox{Mode: hook.SandboxStrict, AllowRead: []string{"/a"}, AllowWrite: []string{"/b"}, DenyRead: []string{"/c"}, Memory: 1 << 20}}
	l.Set(below, want)
	l.Set(other, Pin{SHA256: someDigest})
	for range 2 { // the second time over what the first one wrote
		if err := l.Write(); err != nil {
			t.Fatal(err)
		}
	}
	again, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Binaries(), again.Binaries()); diff != "" || len(l.Binaries()) != 2 {
		t.Error(diff)
	}
	if got, ok := again.Pin(below); !ok || cmp.Diff(want, got) != "" {
		t.Errorf("got %+v", got)
	}
	if !again.Remove(other) || again.Remove(other) {
		t.Error("an approval is not taken back, or twice")
	}
}

func TestLockThatCannotBeReliedOnIsAnErrorAndStays(t *testing.T) {
	pin := `{"sha256":"` + someDigest + `"}`
	for name, text := range map[string]string{
		"empty":                 ``,
		"half":                  `{"version":1,"plugins":{`,
		"nothing":               `null`,
		"a later version":       `{"version":2,"plugins":{}}`,
		"a later version's key": `{"more":1,"version":2}`,
		"an unknown key":        `{"version":1,"plugin":{"a":` + pin + `}}`,
		"another case":          `{"version":1,"plugins":{},"Plugins":{"a":` + pin + `}}`,
		"an unknown permission": `{"version":1,"plugins":{"a":{"sha256":"` + someDigest + `","deny":true}}}`,
		"a key twice":           `{"version":1,"plugins":{"a":` + pin + `,"a":` + pin + `}}`,
		"a plugin twice":        `{"version":1,"plugins":{"a":` + pin + `,"b/../a":` + pin + `}}`,
		"a path out of it":      `{"version":1,"plugins":{"../a":` + pin + `}}`,
		"no digest":             `{"version":1,"plugins":{"a":{"sha256":"../../x"}}}`,
		"a long number":         `{"version":` + strings.Repeat("9", 1<<16) + `}`,
		"a long name":           `{"version":1,"plugins":{"` + strings.Repeat("x", 1<<16) + `":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := lockFileWith(t, text)
			l, err := ReadLock(path)
			if l != nil || err == nil {
				t.Fatalf("got %+v", l)
			}
			said(t, err.Error())
			h := New(Options{StateDir: t.TempDir(), LockFile: path})
			defer h.Close()
			if _, p := h.pins.now(); p == nil || p.Code != CodeLock {
				t.Errorf("the host takes it: %v", p)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("it was written to: %.100q, %v", got, err)
			}
		})
	}
}

// An approval that somebody took back meanwhile would be there again.
func TestLockThatChangedSinceItWasReadIsNotWrittenOver(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"broken":  func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"removed": os.Remove,
		"approved": func(path string) error {
			other, err := ReadLock(path)
			if err != nil {
				return err
			}
			other.Set("/b", Pin{SHA256: someDigest})
			return other.Write()
		},
	} {
		path := lockFileWith(t, `{"version":1,"plugins":{}}`)
		l, err := ReadLock(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		l.Set("/a", Pin{SHA256: someDigest})
		if err := l.Write(); err == nil {
			t.Errorf("%s: it was written over", name)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: %q became %q", name, before, after)
		}
	}
	path := filepath.Join(t.TempDir(), "plugins.lock")
	l, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(); err == nil {
		t.Error("one that appeared was written over")
	}
}

func TestLockSaysWhatItCannotHold(t *testing.T) {
	l, err := ReadLock(filepath.Join(t.TempDir(), "plugins.lock"))
	if err != nil {
		t.Fatal(err)
	}
	l.Set("/a\xff", Pin{SHA256: someDigest})
	if err := l.Write(); err == nil {
		t.Error("a path that JSON cannot hold was written as another one")
	}
	l.Remove("/a\xff")
	l.Set("/a", Pin{SHA256: someDigest, Version: strings.Repeat("x", maxLock)})
	if err := l.Write(); err == nil {
		t.Error("a lock was written that is too large to be read")
	}
}

func TestKeptDigestThatIsNoneIsTakenAnew(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "tenterhook-plugin-a")
	if err := os.WriteFile(binary, []byte("one"), 0o700); err != nil {
		t.Fatal(err)
	}
	at, err := stampOf(binary)
	if err != nil {
		t.Fatal(err)
	}
	first := &digests{path: filepath.Join(dir, "digests.json")}
	want, p := first.of(binary)
	if p != nil {
		t.Fatal(p)
	}
	first.keep(binary, digest{at, "../../elsewhere"})
	if got, p := (&digests{path: first.path}).of(binary); p != nil || got != want {
		t.Errorf("the digest is %q, want %q: %v", got, want, p)
	}
}

func TestKeptDigestIsThatOfTheSameFile(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "tenterhook-plugin-a")
	if err := os.WriteFile(binary, []byte("one"), 0o700); err != nil {
		t.Fatal(err)
	}
	at, err := stampOf(binary)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "digests.json")
	(&digests{path: path}).keep(binary, digest{at, someDigest})
	if got, p := (&digests{path: path}).of(binary); p != nil || got != someDigest {
		t.Errorf("what another process kept does not count: %q, %v", got, p)
	}
	if err := os.WriteFile(binary, []byte("longer"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, p := (&digests{path: path}).of(binary); p != nil || got == someDigest {
		t.Errorf("another file has the digest %q: %v", got, p)
	}
	if runtime.GOOS == "windows" {
		return
	}
	at, err = stampOf(binary)
	if err != nil {
		t.Fatal(err)
	}
	(&digests{path: path}).keep(binary, digest{at, someDigest})
	if err := os.Chmod(binary, 0o777); err != nil {
		t.Fatal(err)
	}
	if got, p := (&digests{path: path}).of(binary); p == nil {
		t.Errorf("one that others can write has the digest %q", got)
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
	sum, p := b.host.digests.of(path)
	if p != nil {
		t.Fatal(p)
	}
	d := &proto.DescribeResponse{Hooks: []*proto.Hook{{Name: "known", Event: "Stop"}, {Name: "own", Event: "DeployBegins"}}}
	if err := b.host.keepDescription(sum, d); err != nil {
		t.Fatal(err)
	}
	hooks, notes := b.host.Describe("guard", b.dir)
	if len(hooks) != 2 || len(notes) != 1 || notes[0].Code != "unknown_event" || !strings.Contains(notes[0].Message, "DeployBegins") {
		t.Errorf("got %v, %v", hooks, notes)
	}
}

func TestApprovingLeavesABrokenLockAlone(t *testing.T) {
	b := newBench(t)
	b.install("fault", "good")
	const text = `{"version":1,"plugins":`
	if err := os.MkdirAll(filepath.Dir(b.host.options.LockFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.host.options.LockFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.host.Lock(t.Context(), b.dir); err == nil {
		t.Error("a plugin was approved")
	}
	if got, err := os.ReadFile(b.host.options.LockFile); err != nil || string(got) != text {
		t.Errorf("it was written to: %q, %v", got, err)
	}
}
