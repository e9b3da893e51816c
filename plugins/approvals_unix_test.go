//go:build !windows

package plugins

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// A lock names plugins below its folder relative to it, so that both can move,
// and all others by their full paths. It is readable by its user alone.
func TestLockMovesWithThePluginsBelowIt(t *testing.T) {
	base := t.TempDir()
	home := filepath.Join(base, "home")
	path := filepath.Join(home, "plugins.lock")
	l, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	inside, beside, outside := filepath.Join(home, "pkg", "b"), filepath.Join(home, "a"), filepath.Join(base, "c")
	for _, binary := range []string{outside, inside + "/../b", beside} {
		l.Set(binary, Pin{SHA256: someDigest})
	}
	if diff := cmp.Diff([]string{outside, beside, inside}, l.Binaries()); diff != "" {
		t.Error(diff)
	}
	if err := l.Write(); err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "plugins": {
    "` + outside + `": {
      "sha256": "` + someDigest + `"
    },
    "a": {
      "sha256": "` + someDigest + `"
    },
    "pkg/b": {
      "sha256": "` + someDigest + `"
    }
  }
}
`
	data, err := os.ReadFile(path)
	if diff := cmp.Diff(want, string(data)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	moved := filepath.Join(base, "moved")
	if err := os.Rename(home, moved); err != nil {
		t.Fatal(err)
	}
	t.Chdir(moved)
	again, err := ReadLock("plugins.lock")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{outside, filepath.Join(moved, "a"), filepath.Join(moved, "pkg", "b")}, again.Binaries()); diff != "" {
		t.Error(diff)
	}
	if pin, ok := again.Pin(filepath.Join(moved, "x", "..", "a")); !ok || pin.SHA256 != someDigest {
		t.Errorf("%+v", pin)
	}
	if !again.Remove(filepath.Join(moved, "x", "..", "a")) || len(again.Binaries()) != 2 {
		t.Errorf("%v", again.Binaries())
	}
}

// More of what is no lock, with the reason for it.
func TestLockSaysWhyItIsNone(t *testing.T) {
	pin := `{"sha256":"` + someDigest + `"}`
	for text, want := range map[string]string{
		`{"version":0,"plugins":{}}`: "it is of version 0, this host reads 1", `{}`: "it is of version 0",
		`{"version":3,"plugins":5}`: "it is of version 3", `{"version":0,"plugins":5}`: "cannot unmarshal number", `{"version":1,"plugins":[]}`: "cannot unmarshal array",
		`{"version":1,"plugins":{"a":5}}`: "cannot unmarshal number", `{"version":1,"plugins":{"a":{"env":5}}}`: "cannot unmarshal number",
		`{"version":1,"plugins":{"a":{"sha256":"` + strings.ToUpper(someDigest) + `"}}}`: `the sha256 of "a" is none`,
		`{"version":1,"plugins":{"a":{"sha256":"` + someDigest[2:] + `"}}}`:              `the sha256 of "a" is none`,
		`{"version":1,"plugins":{"a":{}}}`:                                               `the sha256 of "a" is none`,
		`{"version":1,"plugins":{"":` + pin + `}}`:                                       `"" is no plugin's path`,
		`{"version":1,"plugins":{"../a":` + pin + `}}`:                                   `"../a" is no plugin's path: want a full one`,
		`{"version":1,"plugins":{"a":` + pin + `,"./a":` + pin + `}}`:                    "twice, in two ways",
		`{"version":1,"more":1}`:                                                         `the key "more" is not known`, `{"version":1,"Version":1}`: "Version",
		`{"version":1,"plugins":{"a":{"sha256":"` + someDigest + `","sandbox":{"mode":"tight"}}}}`:                    "there is no such mode",
		`{"version":1,"plugins":{"a":{"sha256":"` + someDigest + `","sandbox":{}}}}`:                                  "there is no such mode",
		`{"version":1,"plugins":{"a":{"sha256":"` + someDigest + `","sandbox":{"mode":"strict","allow_net":[443]}}}}`: "allow_net",
		`{"version":1,"plugins":{"a":{"sha256":"` + someDigest + `","sandbox":{"mode":"strict","memory":-1}}}}`:       "memory is negative",
		`{"version":1,"plugins":{"a":{"sha256":"` + someDigest + `","sandbox":{"mode":"strict","more":1}}}}`:          `the key "more" is not known`,
		`{"version":1,"plugins":{"a":{"SHA256":"` + someDigest + `"}}}`:                                               `the key "SHA256" is not known`,
	} {
		l, p := parseLock("/home/plugins.lock", []byte(text))
		if l != nil || p == nil || !strings.Contains(p.Reason, want) || p.Code != CodeLock || p.Hint != restoreLock || p.Path != "/home/plugins.lock" {
			t.Errorf("%s: %+v, want %q", text, p, want)
		}
	}
	for _, text := range []string{`{"version":1}`, `{"version":1,"plugins":null}`, `{"version":1,"plugins":{"/a":` + pin + `}}`} {
		if _, p := parseLock("/home/plugins.lock", []byte(text)); p != nil {
			t.Errorf("%s: %v", text, p)
		}
	}
}

// A lock that cannot be read or written says so, with what to do.
func TestLockThatCannotBeReadOrWrittenSaysSo(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expectHint := func(what string, err error, hint string) {
		t.Helper()
		if p := expectCode(t, err, CodeLock); p != nil && !strings.HasPrefix(p.Hint, hint) {
			t.Errorf("%s: %q, want %q", what, p.Hint, hint)
		}
	}
	_, err := ReadLock(filepath.Join(file, "plugins.lock"))
	expectHint("below a file", err, "restore it")
	path := filepath.Join(base, "folder", "plugins.lock")
	l, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expectHint("its folder became a file", l.Write(), "make its folder readable")
	blocked := filepath.Join(base, "gone", "plugins.lock")
	l = &Lock{path: blocked, pins: map[string]Pin{"/a": {SHA256: someDigest}}}
	if err := os.Symlink("nowhere/x", filepath.Join(base, "gone")); err != nil {
		t.Fatal(err)
	}
	expectHint("its folder cannot be made", l.Write(), "make its folder writable")
	large := filepath.Join(base, "large")
	if err := os.WriteFile(large, []byte(`{"version":1}`+strings.Repeat(" ", maxLock-len(`{"version":1}`))), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLock(large); err != nil {
		t.Errorf("of the largest size: %v", err)
	}
	if err := os.WriteFile(large, []byte(`{"version":1}`+strings.Repeat(" ", maxLock)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = ReadLock(large)
	expectHint("too large", err, "restore it")
}

// What was approved elsewhere counts beside the lock: both must be satisfied,
// and either is enough to name a plugin.
func TestPluginSatisfiesEachApprovalThatNamesIt(t *testing.T) {
	for name, tc := range map[string]struct {
		locked, elsewhere string // "right", "wrong", "" = not named
		unlocked          bool
		code              string
	}{
		"nobody names it":           {code: CodeUnlocked},
		"it may run unlocked":       {unlocked: true},
		"the lock":                  {locked: "right"},
		"the lock, of other bytes":  {locked: "wrong", code: CodeChanged},
		"unlocked, but of others":   {locked: "wrong", unlocked: true, code: CodeChanged},
		"elsewhere":                 {elsewhere: "right"},
		"elsewhere, of other bytes": {elsewhere: "wrong", code: CodeChanged},
		"both":                      {locked: "right", elsewhere: "right"},
		"only the lock is right":    {locked: "right", elsewhere: "wrong", code: CodeChanged},
		"only elsewhere is right":   {locked: "wrong", elsewhere: "right", code: CodeChanged},
	} {
		b := newBench(t)
		path := b.script("fault", "exit 1\n")
		sum, p := b.host.digests.of(path)
		if p != nil {
			t.Fatal(p)
		}
		digest := map[string]string{"right": sum, "wrong": someDigest}
		if tc.locked != "" {
			lock, _ := ReadLock(b.host.options.LockFile)
			lock.Set(path, Pin{SHA256: digest[tc.locked], Env: []string{"GRANTED"}})
			if err := lock.Write(); err != nil {
				t.Fatal(err)
			}
		}
		h := b.open(func(o *Options) {
			o.AllowUnlocked = tc.unlocked
			o.Approved = func(of string) (string, bool) { return digest[tc.elsewhere], of == path && tc.elsewhere != "" }
		})
		a, p := h.approval(path)
		if tc.code != "" {
			if p == nil || p.Code != tc.code {
				t.Errorf("%s: %+v", name, p)
			}
			continue
		}
		if want := map[bool]int{true: 1, false: 0}[tc.locked != ""]; p != nil || a.digest != sum || len(a.env) != want {
			t.Errorf("%s: %+v, %v", name, a, p)
		}
	}
}

// The lock is read again when it changed, and costs a stat while it does not.
func TestLockIsReadAgainWhenItChanges(t *testing.T) {
	path := lockFileWith(t, `{"version":1,"plugins":{}}`)
	old(t, path)
	p := &pins{path: path}
	first, problem := p.now()
	again, _ := p.now()
	if problem != nil || first != again {
		t.Errorf("it was read twice: %v", problem)
	}
	if err := os.WriteFile(path, []byte(`{"version":1,"plugins":{"a":{"sha256":"`+someDigest+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if now, problem := p.now(); problem != nil || len(now.Binaries()) != 1 {
		t.Errorf("%v, %v", now, problem)
	}
	if p.lock != nil {
		t.Error("one that was just written is relied on by its stamp")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if now, problem := p.now(); problem != nil || now != noLock {
		t.Errorf("%v, %v", now, problem)
	}
}

// A hook names its plugin by its package, and where that has several by a key.
func TestHookFindsThePluginThatItNames(t *testing.T) {
	b := newBench(t)
	a, c := b.script("a", "exit 1\n"), b.script("c", "exit 1\n")
	if err := os.Mkdir(filepath.Join(b.dir, proto.BinaryPrefix+"folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.script("", "exit 1\n") // is no name
	empty := t.TempDir()
	one := filepath.Join(t.TempDir(), "pkg")
	if err := os.MkdirAll(one, 0o700); err != nil {
		t.Fatal(err)
	}
	renamed := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	only := filepath.Join(one, proto.BinaryPrefix+"a")
	if err := os.WriteFile(only, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	find := func(root, plugin string) (string, *Problem) {
		hk := &hook.Hook{Source: hook.Source{Root: root, Path: "/where"}}
		if plugin != "" {
			hk.Params = hook.Params{"plugin": json.RawMessage(plugin)}
		}
		path, _, p := b.host.find(hk)
		return path, p
	}
	for _, tc := range []struct{ root, plugin, want, reason string }{
		{b.dir, `"a"`, a, ""}, {b.dir, `"c"`, c, ""}, {b.dir, "", "", "it has several plugins: a, c"}, {b.dir, `5`, "", "it has several plugins: a, c"},
		{b.dir, `"../x"`, "", `"../x" is no name of a plugin`}, {b.dir, `"..\\x"`, "", "is no name of a plugin"},
		{one, "", only, ""}, {one, "", only, ""}, {one, `"b"`, filepath.Join(one, proto.BinaryPrefix+"b"), ""},
		{empty, "", "", "it has no plugin: no file whose name is like " + proto.BinaryPrefix + "NAME"}, {empty + "/none", "", "", "it does not exist"},
		{"", "", "", "it belongs to no plugin package"}, {"relative", "", "", "it belongs to no plugin package"},
	} {
		path, p := find(tc.root, tc.plugin)
		if path != tc.want || (p == nil) != (tc.reason == "") || p != nil && (!strings.Contains(p.Reason, tc.reason) || p.Code != CodeMissing || p.Hint == "") {
			t.Errorf("%s %s: %q, %+v, want %q %q", tc.root, tc.plugin, path, p, tc.want, tc.reason)
		}
	}
	// One that was found once is looked for again when it is gone.
	hk := &hook.Hook{Source: hook.Source{Root: one}}
	moved := filepath.Join(one, proto.BinaryPrefix+"b")
	renamed(only, moved)
	if _, _, p := b.host.approved(hk, ""); p == nil || p.Code != CodeUnlocked || p.Path != moved {
		t.Errorf("renamed: %+v", p)
	}
	if err := os.Remove(moved); err != nil {
		t.Fatal(err)
	}
	if _, _, p := b.host.approved(hk, ""); p == nil || p.Code != CodeMissing || p.Path != one {
		t.Errorf("removed: %+v", p)
	}
}

func TestHookIsCalledByItsKeyOrItsNameInThePlugin(t *testing.T) {
	for params, want := range map[string]string{"": "name", `"other"`: "other", `""`: "name", `5`: "name"} {
		hk := &hook.Hook{Name: "name"}
		if params != "" {
			hk.Params = hook.Params{"hook": json.RawMessage(params)}
		}
		if got := nameOf(hk); got != want {
			t.Errorf("%s: %q", params, got)
		}
	}
	if got := nameIn("/x/" + binaryName("guard")); got != "guard" {
		t.Errorf("%q", got)
	}
}

// Check says what would keep a hook from running, where it stands, and which
// names there are.
func TestCheckSaysWhatKeepsAHookFromItsPlugin(t *testing.T) {
	b := newBench(t)
	path := b.script("fault", "exit 1\n")
	b.pin(path)
	hk := b.hook()
	hk.Source.Path, hk.Source.Line = "/w/HOOK.md", 7
	said := func() hook.Diagnostic {
		t.Helper()
		notes := b.host.Check(&hook.Call{Hook: hk})
		if len(notes) != 1 || notes[0].Hook != hk.ID || notes[0].Path != "/w/HOOK.md" || notes[0].Line != 7 {
			t.Fatalf("%+v", notes)
		}
		return notes[0]
	}
	if d := said(); d.Severity != hook.SeverityWarning || d.Code != CodeNew || !strings.HasPrefix(d.Message, path+": it was not asked yet") {
		t.Errorf("%+v", d)
	}
	sum, _ := b.host.digests.of(path)
	describe := func(hooks ...*proto.Hook) {
		t.Helper()
		if err := b.host.keepDescription(sum, &proto.DescribeResponse{Hooks: hooks}); err != nil {
			t.Fatal(err)
		}
	}
	describe(&proto.Hook{Name: "other", Event: "PreToolUse"}, &proto.Hook{Name: "more", Event: "PreToolUse"}, &proto.Hook{Name: "fault", Event: "Stop"})
	if d := said(); d.Severity != hook.SeverityError || d.Code != CodeHook || d.Message != path+`: it has no hook "fault" for PreToolUse` || d.Hint != "it has: other, more" {
		t.Errorf("%+v", d)
	}
	describe(&proto.Hook{Name: "fault", Event: "Stop"})
	if d := said(); d.Hint != "" {
		t.Errorf("%+v", d)
	}
	describe(&proto.Hook{Name: "other", Event: "PreToolUse"}, &proto.Hook{Name: "fault", Event: "PreToolUse"})
	if notes := b.host.Check(&hook.Call{Hook: hk}); len(notes) != 0 {
		t.Errorf("%+v", notes)
	}
	if err := os.WriteFile(b.host.descriptionPath(sum), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := said(); d.Code != CodeNew || !strings.Contains(d.Message, "cannot be read any more") {
		t.Errorf("%+v", d)
	}
	if err := os.Chmod(b.host.descriptionPath(sum), 0o666); err != nil {
		t.Fatal(err)
	}
	if d := said(); !strings.Contains(d.Message, "what it said of itself cannot be read: others can write it") {
		t.Errorf("%+v", d)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if d := said(); d.Severity != hook.SeverityError || d.Code != CodeMissing {
		t.Errorf("%+v", d)
	}
}
