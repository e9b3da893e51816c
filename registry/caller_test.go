package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/registry"
)

func TestHooksInheritTheEnvironmentOfTheCaller(t *testing.T) {
	opts := only(tree(t, `
-- who/HOOK.md --
+++
event = "SessionStart"
command = "./who.sh"
+++
-- who/who.sh --
#!/bin/sh
echo "command of $WHO"
`))
	opts.Env = []string{"WHO=registry", searchPath()}
	reg := open(t, opts)
	in := func(env ...string) context.Context {
		return registry.WithCaller(t.Context(), registry.Caller{Env: append([]string{}, env...)})
	}
	for _, test := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"none", t.Context(), "registry"},
		{"one caller's", in("WHO=alice", searchPath()), "alice"},
		{"another's", in("WHO=bob", searchPath()), "bob"},
		{"an empty one", in(), ""},
		{"none again", registry.WithCaller(in("WHO=alice"), registry.Caller{}), "registry"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				built.NotOnWindows(t, "sh is found by PATH")
			}
			out, err := reg.Dispatch(test.ctx, hook.SessionStart{Source: "startup"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{strings.TrimSpace("command of " + test.want)}, out.Contexts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a hook requires is looked for where its caller would find it.
func TestRequirementsAreCheckedInTheEnvironmentOfTheCaller(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(built.Program(bin, "needed"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	opts := only(tree(t, `
-- needs/HOOK.md --
+++
event = "SessionStart"
command = "echo here"
[requires]
bins = ["needed"]
envs = ["TOKEN"]
+++
`))
	opts.Env = []string{searchPath()}
	reg := open(t, opts)
	for range 2 { // callers take turns
		for _, test := range []struct {
			env  []string
			runs bool
		}{
			{[]string{searchPath(bin), "TOKEN=x"}, true},
			{[]string{searchPath(), "TOKEN=x"}, false},
			{[]string{searchPath(bin)}, false},
			{nil, false},
		} {
			out, err := reg.Dispatch(registry.WithCaller(t.Context(), registry.Caller{Env: test.env}), hook.SessionStart{Source: "startup"})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(out.Contexts) == 1; got != test.runs {
				t.Errorf("%q: ran is %v, results %+v", test.env, got, out.Results)
			}
		}
	}
}

// In an `if`, ~ is the home of the caller, and without an environment of its own
// that of Options.Env.
func TestRulesAreJudgedInTheEnvironmentOfTheCaller(t *testing.T) {
	t.Setenv("HOME", onDrive("/process"))
	opts := only(tree(t, `
-- guard/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Edit(~/secret)"
decision = "deny"
reason = "It is secret."
+++
-- script/HOOK.md --
+++
event = "PreToolUse"
if = "Edit(~/secret)"
command = "true"
+++
`))
	opts.Env = []string{"HOME=" + onDrive("/options")}
	reg := open(t, opts)
	for name, test := range map[string]struct {
		ctx  context.Context
		home string
	}{
		"no caller":         {t.Context(), "/options"},
		"no environment":    {registry.WithCaller(t.Context(), registry.Caller{}), "/options"},
		"an environment":    {registry.WithCaller(t.Context(), registry.Caller{Env: []string{"HOME=" + onDrive("/caller")}}), "/caller"},
		"one without HOME":  {registry.WithCaller(t.Context(), registry.Caller{Env: []string{}}), "/options"},
		"the last one wins": {registry.WithCaller(t.Context(), registry.Caller{Env: []string{"HOME=" + onDrive("/first"), "HOME=" + onDrive("/caller")}}), "/caller"},
	} {
		for _, home := range []string{"/process", "/options", "/caller"} {
			out, err := reg.Dispatch(test.ctx, hook.PreToolUse{ToolName: "Edit", ToolInput: json.RawMessage(`{"file_path":"` + onDrive(home) + `/secret"}`)})
			if err != nil {
				t.Fatal(err)
			}
			if concerned := len(out.Results) == 2 && out.Verdict == hook.Deny; concerned != (home == test.home) || !concerned && len(out.Results) > 0 {
				t.Errorf("%s: %s/secret: %v", name, home, ids(out))
			}
		}
	}
}

// A program that is gone is found missing by the start that fails, and not for as
// long as what was looked up before holds.
func TestAStartThatFailsHasWhatTheHookRequiresLookedUpAnew(t *testing.T) {
	built.NotOnWindows(t, "a script without an ending is no program on PATH")
	dir := tree(t, "-- hooks/guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"guard-tool\"\nargs = []\n[requires]\nbins = [\"guard-tool\"]\n+++\n-- bin/guard-tool --\n#!/bin/sh\n")
	opts := only(filepath.Join(dir, "hooks"))
	opts.Env = []string{searchPath(filepath.Join(dir, "bin"))}
	reg := open(t, opts)
	var got []string
	for range 3 {
		got = append(got, ids(dispatch(t, reg, bash("ls")))...)
		_ = os.Remove(filepath.Join(dir, "bin", "guard-tool"))
	}
	if diff := cmp.Diff([]string{"dir/guard success", "dir/guard failed start", "dir/guard skipped ineligible"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVariableIsThatOfTheOptions(t *testing.T) {
	t.Setenv("OF_THE_PROCESS", "1")
	const hooks = "-- hooks/%[1]s/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n[requires]\nenvs = [\"%[1]s\"]\n+++\n"
	dir := tree(t, fmt.Sprintf(hooks, "OF_THE_PROCESS")+fmt.Sprintf(hooks, "GIVEN")+fmt.Sprintf(hooks, "NOWHERE"))
	opts := only(filepath.Join(dir, "hooks"))
	opts.Env = []string{searchPath(), "GIVEN=1", "NOWHERE"}
	reg := open(t, opts)
	results := dispatch(t, reg, bash("ls")).Results
	if len(results) != 3 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		if given := r.Hook.Name == "GIVEN"; (r.Failure != hook.FailureIneligible) != given {
			t.Errorf("%s: %+v", r.Hook.Name, r)
		}
	}
}

// A caller whose event no hook caused takes a place as the host itself does.
func TestEventsOfACallerTakePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxParallel = 2
		reg := open(t, opts)
		var running, most atomic.Int32
		on(t, reg, "slow", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			return nil, nil
		})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := reg.Dispatch(registry.WithCaller(t.Context(), registry.Caller{Env: []string{}}), bash("ls")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 2 {
			t.Errorf("%d run side by side, want 2", most.Load())
		}
	})
}
