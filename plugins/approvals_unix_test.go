//go:build !windows

package plugins

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

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
	if _, _, p := b.host.approved(hk, ""); p == nil || p.Code != CodeUntrusted || p.Path != moved {
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
	sum := b.sum(path)
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
