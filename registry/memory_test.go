package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/registry"
)

// described is all that a registry says of its hooks, for comparison.
func described(reg *registry.Registry) []string {
	var lines []string
	for _, l := range reg.List() {
		lines = append(lines, fmt.Sprint(l.Hook.ID, " ", l.Hook.Source.Path, " ", l.State, " ", l.Why))
	}
	for _, d := range reg.Diagnostics() {
		lines = append(lines, fmt.Sprint(d.Code, " ", d.Path, " ", d.Message))
	}
	return lines
}

// settle waits until stamps are old enough to count.
func settle() { time.Sleep(150 * time.Millisecond) }

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// A reload comes to what a registry that is opened now comes to, twice: what
// was read without a stamp, and what a stamp vouches for.
func TestReloadComesToWhatOpenDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("long: reloads for 5 s")
	}
	const guard = "+++\nevent = \"PreToolUse\"\ncommand = \"./guard.sh\"\n+++\n"
	beside := func(opts registry.Options, names ...string) string {
		return filepath.Join(append([]string{opts.UserDir, "hooks", "a"}, names...)...)
	}
	tests := []struct {
		name   string
		before func(t *testing.T, opts *registry.Options)
		change func(t *testing.T, opts registry.Options) // nil = nothing changes
	}{
		{"nothing is there", func(*testing.T, *registry.Options) {}, nil},
		{"the home is the workspace", func(t *testing.T, opts *registry.Options) {
			opts.Compat = []string{"claude"}
			opts.Env = append(opts.Env, "HOME="+opts.Workspace)
			write(t, filepath.Join(opts.Workspace, ".claude", "settings.json"), handlers("PreToolUse", "exit 2"))
		}, nil},
		{"a folder of the workspace is named too", func(t *testing.T, opts *registry.Options) {
			own := filepath.Join(opts.Workspace, ".tenterhook")
			opts.Dirs = []string{own}
			write(t, filepath.Join(own, "hooks", "a", "HOOK.md"), fmt.Sprintf(says, "a"))
			write(t, filepath.Join(own, "settings.json"), handlers("PreToolUse", "exit 2"))
		}, nil},
		{"a manifest is a folder", func(t *testing.T, opts *registry.Options) {
			write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md", "x"), "")
		}, nil},
		{"settings are a folder", func(t *testing.T, opts *registry.Options) {
			write(t, filepath.Join(opts.UserDir, "settings.json", "x"), "")
		}, nil},
		{"settings are a link to nowhere", func(t *testing.T, opts *registry.Options) {
			write(t, filepath.Join(opts.UserDir, "x"), "")
			if err := os.Symlink("nowhere", filepath.Join(opts.UserDir, "settings.json")); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"others can write a hook that names no command", func(t *testing.T, opts *registry.Options) {
			write(t, beside(*opts, "HOOK.md"), "+++\nevent = \"PreToolUse\"\n+++\n")
			write(t, beside(*opts, "handler.sh"), "#!/bin/sh\n")
			chmod(t, beside(*opts), 0o777)
		}, nil},
		{"a script is others' to write by now", func(t *testing.T, opts *registry.Options) {
			write(t, beside(*opts, "HOOK.md"), guard)
			write(t, beside(*opts, "guard.sh"), "#!/bin/sh\nexit 2\n")
		}, func(t *testing.T, opts registry.Options) { chmod(t, beside(opts, "guard.sh"), 0o777) }},
		{"a script no longer is", func(t *testing.T, opts *registry.Options) {
			write(t, beside(*opts, "HOOK.md"), guard)
			write(t, beside(*opts, "guard.sh"), "#!/bin/sh\nexit 2\n")
			chmod(t, beside(*opts, "guard.sh"), 0o777)
		}, func(t *testing.T, opts registry.Options) { chmod(t, beside(opts, "guard.sh"), 0o755) }},
		{"the folder of settings no longer is", func(t *testing.T, opts *registry.Options) {
			write(t, filepath.Join(opts.UserDir, "settings.json"), handlers("PreToolUse", "exit 2"))
			chmod(t, opts.UserDir, 0o777)
		}, func(t *testing.T, opts registry.Options) { chmod(t, opts.UserDir, 0o755) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if strings.Contains(test.name, "others'") || strings.HasSuffix(test.name, "no longer is") {
				built.NotOnWindows(t, "no mode says who may write")
			}
			opts := machine(t, "")
			test.before(t, &opts)
			reg := open(t, opts)
			compare := func(when string) {
				t.Helper()
				if diff := cmp.Diff(described(open(t, opts)), described(reg)); diff != "" {
					t.Errorf("%s: -open +reload:\n%s", when, diff)
				}
			}
			for _, when := range []string{"at once", "once more", "later"} {
				if when == "later" {
					settle()
				}
				if changed := reload(t, reg); changed.Any() {
					t.Errorf("%s, nothing changed: %q", when, summary(changed))
				}
				compare(when)
			}
			if test.change == nil {
				return
			}
			test.change(t, opts)
			if changed := reload(t, reg); !changed.Any() {
				t.Error("nothing is said to have changed")
			}
			compare("changed")
		})
	}
}

// A definition that others could write when it was good is not what it last
// declared to anybody.
func TestF5WhatNobodyTrustedIsNotKept(t *testing.T) {
	built.NotOnWindows(t, "no mode says who may write")
	opts := machine(t, "")
	file, settings := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), filepath.Join(opts.UserDir, "settings.json")
	write(t, file, fmt.Sprintf(says, "good"))
	write(t, settings, handlers("PreToolUse", "exit 2"))
	chmod(t, file, 0o666)
	chmod(t, settings, 0o666)
	reg := open(t, opts)
	for path, text := range map[string]string{file: "+++\nevent = \n+++\n", settings: "{"} {
		write(t, path, text)
		chmod(t, path, 0o644)
	}
	reload(t, reg)
	want := []string{"user/a skipped invalid", "user/settings.json skipped invalid"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// ending is a context that ends once it was asked so many times.
type ending struct {
	context.Context
	left *atomic.Int64
}

func (c ending) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestReloadThatIsCancelledChangesNothing(t *testing.T) {
	opts := machine(t, `
-- plugins/pack/plugin.json --
{"name": "pack", "hooks": ["./extra.json"]}
-- plugins/pack/extra.json --
`+handlers("PreToolUse", "true")+`
-- home/.config/tenterhook/hooks/a/HOOK.md --
+++
event = "PreToolUse"
command = "true"
+++
`)
	reg := open(t, opts)
	want := described(reg)
	cancelled := 0
	for n := range 100 {
		var left atomic.Int64
		left.Store(int64(n))
		changed, err := reg.Reload(ending{t.Context(), &left})
		if err != nil {
			cancelled++
		} else if changed.Any() {
			t.Errorf("cancelled after %d questions: %q", n, summary(changed))
		}
		if diff := cmp.Diff(want, described(reg)); diff != "" {
			t.Fatalf("cancelled after %d questions: -before +after:\n%s", n, diff)
		}
	}
	if cancelled < 3 {
		t.Errorf("only %d reloads were cancelled", cancelled)
	}
}

// What a script did wrong is not held against another one in its place.
func TestReloadForgetsWhatAnotherHookDid(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "settings.json")
	fails := `{"type": "command", "command": "exit 3", "breaker": {"failures": 1}}`
	spent := `{"type": "command", "command": "true spent", "once": true}`
	list := func(handlers ...string) string {
		return `{"hooks": {"PreToolUse": [{"hooks": [` + strings.Join(handlers, ",\n") + `]}]}}`
	}
	write(t, file, list(fails, spent))
	reg := open(t, opts)
	dispatch(t, reg, inSession("s"))
	at := func(i int) string { return fmt.Sprintf("user/settings.json:PreToolUse[0].%d ", i) }
	want := []string{at(0) + "failed breaker_open"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, inSession("s")))); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	write(t, file, list(strings.Replace(fails, "exit 3", "true mended", 1), strings.Replace(spent, "spent", "fresh", 1)))
	reload(t, reg)
	want = []string{at(0) + "success", at(1) + "success"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, inSession("s")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReloadOfSettingsNamesTheHooksThatChanged(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "settings.toml")
	text := "# one\n[[hooks.PreToolUse]]\nname = \"a\"\ncommand = \"exit 3\"\n[hooks.PreToolUse.breaker]\nfailures = 1\n" +
		"[[hooks.PreToolUse]]\nname = \"b\"\ncommand = \"true\"\n"
	write(t, file, text)
	reg := open(t, opts)
	dispatch(t, reg, bash("ls"))
	write(t, file, "\n\n"+strings.Replace(text, `"true"`, `"true b"`, 1))
	if got := summary(reload(t, reg)); got != "~user/b settings" {
		t.Errorf("%q", got)
	}
	if l := state(t, reg, "user/a"); l.Hook.Source.Line != 4 {
		t.Errorf("it is on line %d", l.Hook.Source.Line)
	}
	want := []string{"user/a failed breaker_open", "user/b success"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReloadKeepsABrokenEntryAsItLastWas(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "settings.toml")
	const good = "[[hooks.PreToolUse]]\ncommand = \"exit 2\"\n"
	write(t, file, good)
	reg := open(t, opts)
	const broken, more = "[[hooks.PreToolUse]]\ncommand = 5\n", "[[hooks.PreToolUse]]\nname = \"more\"\ncommand = \"true\"\n"
	step := func(text, want string, results ...string) {
		t.Helper()
		write(t, file, text)
		if got := summary(reload(t, reg)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if diff := cmp.Diff(results, ids(dispatch(t, reg, bash("ls")))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	const kept = "user/settings.toml:PreToolUse[0] blocked"
	step(broken, "=user/settings.toml:PreToolUse[0] settings", kept)
	said := func(code string, line int) bool {
		return slices.ContainsFunc(reg.Diagnostics(), func(d hook.Diagnostic) bool {
			return d.Code == code && d.Hook == "user/settings.toml:PreToolUse[0]" && d.Line == line
		})
	}
	if !said("kept_last_good", 1) || !said("wrong_type", 2) {
		t.Errorf("%v", reg.Diagnostics())
	}
	step(broken+more, "+user/more settings", kept, "user/more success")
	step("[[hooks", "=user/settings.toml:PreToolUse[0] =user/more settings", kept, "user/more success")
	step(broken+more, "settings", kept, "user/more success")
	step(good+more, "~user/settings.toml:PreToolUse[0] settings", kept, "user/more success")
	if hook.HasErrors(reg.Diagnostics()) {
		t.Errorf("mended, and still: %v", reg.Diagnostics())
	}
	step(more, "-user/settings.toml:PreToolUse[0] settings", "user/more success")
}

// What a word of an approved command means was not approved.
func TestF4ReloadSeesAFileThatACommandCameToName(t *testing.T) {
	opts := machine(t, "")
	own := filepath.Join(opts.Workspace, ".tenterhook")
	write(t, filepath.Join(own, "settings.json"), handlers("PreToolUse", "cat check.txt; exit 2"))
	write(t, filepath.Join(own, "hooks", "a", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"cat \\\"$CLAUDE_PROJECT_DIR/check.txt\\\"; exit 2\"\n+++\n")
	reg := open(t, opts)
	approve(t, reg)
	blocked := []string{"project/a blocked", "project/settings.json:PreToolUse[0].0 blocked"}
	if diff := cmp.Diff(blocked, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	broken := open(t, opts)
	write(t, filepath.Join(opts.Workspace, "check.txt"), "")
	want := []string{"project/a skipped untrusted", "project/settings.json:PreToolUse[0].0 skipped untrusted"}
	reload(t, reg)
	for _, reg := range []*registry.Registry{reg, open(t, opts)} {
		if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	write(t, filepath.Join(own, "settings.json"), "{")
	reload(t, broken)
	if again := reload(t, broken); again.Any() {
		t.Errorf("nothing changed: %q", summary(again))
	}
	if diff := cmp.Diff(want, ids(dispatch(t, broken, bash("ls")))); diff != "" {
		t.Errorf("broken as well: -want +got:\n%s", diff)
	}
}
