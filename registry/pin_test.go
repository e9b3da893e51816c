package registry_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// statuses are the results as "id status".
func statuses(out *hook.Outcome) (list []string) {
	for _, r := range out.Results {
		list = append(list, r.Hook.ID+" "+string(r.Status))
	}
	return list
}

// TestPinnedSessionKeepsTheGuardsItBeganWith changes a guard under two sessions, of
// which one is pinned. A step is what a reload finds, and what both see then.
func TestPinnedSessionKeepsTheGuardsItBeganWith(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const gone = "gone"
	manifest := func(lines string) string { return "+++\nevent = \"PreToolUse\"\n" + lines + "\n+++\n" }
	denies, allows := manifest(`command = "exit 2"`), manifest("command = '''echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}' '''")
	for name, tc := range map[string]struct {
		file, before, after, settings string
		pinned, other                 []string // IDs with statuses, of each session
		verdict                       hook.Verdict
		kept                          string
	}{
		"nothing changed": {before: denies, after: denies, settings: "max_async = 3",
			pinned: []string{"user/guard blocked"}, other: []string{"user/guard blocked"}, verdict: hook.Deny},
		"removed": {before: denies, after: gone, pinned: []string{"user/guard blocked"}, verdict: hook.Deny, kept: "user/guard"},
		"changed": {before: denies, after: manifest(`command = "true"`), kept: "user/guard",
			pinned: []string{"user/guard success", "user/guard blocked"}, other: []string{"user/guard success"}, verdict: hook.Deny},
		"switched off by settings": {before: denies, after: denies, settings: "disable_all_hooks = true", kept: "user/guard",
			pinned: []string{"user/guard skipped", "user/guard blocked"}, other: []string{"user/guard skipped"}, verdict: hook.Deny},
		"no longer blocks on failure": {before: manifest("command = \"exit 3\"\non_failure = \"block\""), after: manifest(`command = "exit 3"`), kept: "user/guard",
			pinned: []string{"user/guard failed", "user/guard failed"}, other: []string{"user/guard failed"}, verdict: hook.Deny},
		"its failure refuses, whatever it said": {before: manifest(`command = "exit 3"`), after: gone, kept: "user/guard",
			pinned: []string{"user/guard failed"}, verdict: hook.Deny},
		"its allow does not count": {before: allows, after: gone, kept: "user/guard", pinned: []string{"user/guard success"}, verdict: hook.NoOpinion},
		"its question counts": {before: strings.Replace(allows, `"allow"`, `"ask"`, 1), after: gone, kept: "user/guard",
			pinned: []string{"user/guard success"}, verdict: hook.Ask},
		"its rewrite does not count": {before: manifest("rewrites = true\ncommand = '''echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"command\":\"x\"}}}' '''"), after: gone,
			kept: "user/guard", pinned: []string{"user/guard success"}, verdict: hook.NoOpinion},
		"one that runs once is asked each time": {before: manifest("once = true\ncommand = \"true\""), after: gone, kept: "user/guard",
			pinned: []string{"user/guard success"}, verdict: hook.NoOpinion},
		"a rule": {before: manifest("type = \"rule\"\ndecision = \"deny\"\nreason = \"no\""), after: gone, kept: "user/guard",
			pinned: []string{"user/guard blocked"}, verdict: hook.Deny},
		"a rule that is not concerned": {before: manifest("type = \"rule\"\nif = \"Bash(rm *)\"\ndecision = \"deny\"\nreason = \"no\""), after: gone, kept: "user/guard"},
		"an allow of a rule does not count": {before: manifest("type = \"rule\"\nif = \"Bash(ls)\"\ndecision = \"allow\""), after: gone, kept: "user/guard",
			pinned: []string{"user/guard success"}, verdict: hook.NoOpinion},
		"a background hook":     {before: manifest("async = true\ncommand = \"true\""), after: gone},
		"one that wakes":        {before: manifest("async_rewake = true\ncommand = \"true\""), after: gone},
		"one that was broken":   {before: manifest("command = 5"), after: gone},
		"one of an observer":    {before: strings.Replace(denies, "PreToolUse", "PostToolUse", 1), after: gone},
		"one of the workspace":  {file: "project", before: denies, after: gone},
		"one of a named folder": {file: "dir", before: denies, after: gone, kept: "dir/guard", pinned: []string{"dir/guard blocked"}, verdict: hook.Deny},
		"one of a settings file": {file: "settings", before: entry(`"command": "exit 2"`), after: gone, kept: "user/settings.json:PreToolUse[0].0",
			pinned: []string{"user/settings.json:PreToolUse[0].0 blocked"}, verdict: hook.Deny},
		"self-protection was off": {before: denies, after: gone, settings: "self_protection = false"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := machine(t, "")
			dir := t.TempDir()
			opts.Dirs = []string{dir}
			file := map[string]string{"": filepath.Join(opts.UserDir, "hooks", "guard", "HOOK.md"), "dir": filepath.Join(dir, "guard", "HOOK.md"), "settings": filepath.Join(opts.UserDir, "settings.json"),
				"project": filepath.Join(opts.Workspace, ".tenterhook", "hooks", "guard", "HOOK.md")}[tc.file]
			write(t, file, tc.before)
			reg := open(t, opts)
			approve(t, reg)
			reg.PinSession("pinned", nil)
			reg.PinSession("", nil)
			dispatch(t, reg, inSession("pinned"))
			write(t, filepath.Join(opts.UserDir, "settings.toml"), tc.settings)
			if tc.after == gone {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, file, tc.after)
			}
			for range 2 { // the second finds the same
				changed := reload(t, reg)
				if got := strings.Join(changed.Pinned, " "); changed.Any() && got != tc.kept {
					t.Errorf("pinned %q, want %q", got, tc.kept)
				}
				write(t, filepath.Join(opts.UserDir, "settings.toml"), "# as before\n"+tc.settings)
				out := dispatch(t, reg, inSession("pinned"))
				if diff := cmp.Diff(tc.pinned, statuses(out)); diff != "" || out.Verdict != tc.verdict || out.UpdatedInput != nil {
					t.Errorf("the pinned session: %v %q -want +got:\n%s", out.Verdict, out.Reason, diff)
				}
				if asked := len(tc.pinned) > 0 && strings.HasSuffix(tc.pinned[len(tc.pinned)-1], " blocked"); asked && tc.kept != "" &&
					!strings.Contains(out.Reason, tc.kept+" guards this session") {
					t.Errorf("the reason does not say who refuses: %q", out.Reason)
				}
				for _, session := range []string{"other", ""} {
					if diff := cmp.Diff(tc.other, statuses(dispatch(t, reg, inSession(session)))); diff != "" {
						t.Errorf("session %q: -want +got:\n%s", session, diff)
					}
				}
				tc.kept = "" // it is kept already
			}
			reg.EndSession("pinned")
			if diff := cmp.Diff(tc.other, statuses(dispatch(t, reg, inSession("pinned")))); diff != "" {
				t.Errorf("after its end: -want +got:\n%s", diff)
			}
		})
	}
}

// A guard that was kept stays the one that the session began with, whatever comes
// after it. A session that ended keeps nothing any more.
func TestKeptGuardIsTheOneOfTheSessionsBegin(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "hooks", "guard", "HOOK.md")
	says := func(word string) {
		write(t, file, "+++\nevent = \"PreToolUse\"\ncommand = \"echo "+word+" >&2; exit 2\"\n+++\n")
	}
	says("first")
	reg := open(t, opts)
	reg.PinSession("old", nil)
	reg.PinSession("ended", nil)
	reg.EndSession("ended")
	says("second")
	reload(t, reg)
	reg.PinSession("new", nil)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := reload(t, reg).Pinned; len(got) != 1 {
		t.Errorf("pinned: %v", got)
	}
	for session, want := range map[string]string{"old": "first", "new": "second", "ended": "", "none": ""} {
		out := dispatch(t, reg, inSession(session))
		if want == "" && len(out.Results) > 0 || want != "" && (len(out.Results) != 1 || !strings.HasPrefix(out.Reason, want)) {
			t.Errorf("%s: %q %v", session, out.Reason, ids(out))
		}
	}
}

// Nothing is kept, and nothing said to be, where no session is pinned.
func TestReloadPinsNothingWithoutAPinnedSession(t *testing.T) {
	opts := machine(t, "")
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	reg, err := registry.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	if err := os.RemoveAll(filepath.Join(opts.UserDir, "hooks")); err != nil {
		t.Fatal(err)
	}
	if changed := reload(t, reg); len(changed.Pinned) != 0 || len(changed.Removed) != 1 {
		t.Errorf("%+v", changed)
	}
}

// What another process reads of a guard is the guard, with all that it has.
func TestAPinIsReadAsItWasWritten(t *testing.T) {
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString("a \"<b>\"\n" + v.Type().Name())
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(7)
		case reflect.Uint8:
			v.SetUint(2)
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		case reflect.Slice:
			if v.Type() == reflect.TypeFor[json.RawMessage]() {
				v.SetBytes([]byte(`{"x":[1,"y"]}`))
				return
			}
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0))
			fill(v.Index(1))
		case reflect.Map:
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key)
			fill(value)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		case reflect.Interface: // the handler stays in its process
		default:
			t.Fatalf("a field of kind %v", v.Kind())
		}
	}
	h := new(hook.Hook)
	fill(reflect.ValueOf(h).Elem())
	h.Source.Line = 0 // it says nothing
	text, err := json.Marshal(registry.Pin{Hook: h, Files: "f", Copy: "c"})
	if err != nil {
		t.Fatal(err)
	}
	var p registry.Pin
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(registry.Pin{Hook: h, Files: "f", Copy: "c"}, p); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// PinSession says what a session keeps when that changes, and takes over what it
// kept in another process.
func TestPinnedGuardsGoOnInAnotherProcess(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "hooks", "guard", "HOOK.md")
	settings := filepath.Join(opts.UserDir, "settings.toml")
	const guard = "+++\nevent = \"PreToolUse\"\nif = \"Bash(ls)\"\ncommand = \"./guard.sh\"\ntimeout = 7\n+++\n"
	write(t, file, guard)
	write(t, filepath.Join(filepath.Dir(file), "guard.sh"), "#!/bin/sh\necho first >&2\nexit 2\n")
	chmod(t, filepath.Join(filepath.Dir(file), "guard.sh"), 0o755)
	first := open(t, opts)
	named := func(pins []registry.Pin) (list []string) {
		for _, p := range pins {
			list = append(list, p.Hook.ID)
		}
		return list
	}
	kept := first.PinSession("s", nil)
	if diff := cmp.Diff([]string{"user/guard"}, named(kept)); diff != "" {
		t.Fatal(diff)
	}
	if again := first.PinSession("s", nil); again != nil {
		t.Errorf("nothing changed, and it keeps %v", named(again))
	}
	write(t, filepath.Join(opts.UserDir, "hooks", "more", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n+++\n")
	reload(t, first)
	kept = first.PinSession("s", nil)
	if diff := cmp.Diff([]string{"user/guard", "user/more"}, named(kept)); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	var relayed []registry.Pin
	if err := json.Unmarshal(data, &relayed); err != nil {
		t.Fatal(err)
	}
	if h := relayed[0].Hook; h.Scope != hook.ScopeUser || len(h.If) != 1 || h.Timeout != 7*time.Second || relayed[0].Files != kept[0].Files || relayed[0].Copy != kept[0].Copy || kept[0].Copy == "" {
		t.Errorf("%s", data)
	}
	if json.Unmarshal([]byte("5"), &relayed[1]) == nil {
		t.Error("a number is a pin")
	}
	if err := json.Unmarshal(data, &relayed); err != nil {
		t.Fatal(err)
	}

	// In another process the same guards are live, and are asked once.
	second := open(t, opts)
	if got := named(second.PinSession("s", relayed)); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := ids(dispatch(t, second, inSession("s"))); len(got) != 2 {
		t.Errorf("all are as they were: %v", got)
	}
	// In a third they are gone, and still judge the session alone.
	if err := errors.Join(os.RemoveAll(filepath.Join(opts.UserDir, "hooks", "more")), os.Remove(file)); err != nil {
		t.Fatal(err)
	}
	third := open(t, opts)
	third.PinSession("s", relayed)
	if diff := cmp.Diff([]string{"user/guard blocked", "user/more blocked"}, statuses(dispatch(t, third, inSession("s")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	third.PinSession("new", nil)
	if got := ids(dispatch(t, third, inSession("new"))); len(got) != 0 {
		t.Errorf("another session: %v", got)
	}
	// A caller that knows the session does not ask what another process says of it.
	if got := third.PinSession("new", relayed); got != nil || len(ids(dispatch(t, third, inSession("new")))) != 0 {
		t.Errorf("%v", named(got))
	}
	write(t, settings, "self_protection = false\n")
	reload(t, third)
	if got := third.PinSession("s", relayed); got == nil || len(got) != 0 || len(dispatch(t, third, inSession("s")).Results) != 0 {
		t.Errorf("an operator lets it lose them: %v", named(got))
	}
}

// A guard whose script changed runs for its session from a copy of what it was,
// and refuses where there is none.
func TestPinnedGuardRunsTheScriptThatItsSessionBeganWith(t *testing.T) {
	for name, lose := range map[string]bool{"with its copy": false, "without": true} {
		opts := machine(t, "")
		folder := filepath.Join(opts.UserDir, "hooks", "guard")
		script := filepath.Join(folder, "guard.sh")
		write(t, filepath.Join(folder, "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"./guard.sh\"\n+++\n")
		write(t, script, "#!/bin/sh\necho first >&2\nexit 2\n")
		chmod(t, script, 0o755)
		reg := open(t, opts)
		reg.PinSession("old", nil)
		write(t, script, "#!/bin/sh\nexit 0\n")
		if lose {
			if err := os.RemoveAll(filepath.Join(opts.StateDir, "snapshots")); err != nil {
				t.Fatal(err)
			}
		}
		if got := reload(t, reg).Pinned; len(got) != 1 {
			t.Errorf("%s: pinned %v", name, got)
		}
		if again := reload(t, reg).Pinned; len(again) != 0 {
			t.Errorf("%s: pinned again: %v", name, again)
		}
		reg.PinSession("new", nil)
		if out := dispatch(t, reg, inSession("new")); out.Verdict != hook.NoOpinion {
			t.Errorf("%s: the new session: %v %v", name, out.Verdict, ids(out))
		}
		out := dispatch(t, reg, inSession("old"))
		if want := map[bool]string{false: "first (user/guard guards this session", true: "no copy of them is left"}[lose]; out.Verdict != hook.Deny || !strings.Contains(out.Reason, want) {
			t.Errorf("%s: %v %q", name, out.Verdict, out.Reason)
		}
	}
}
