package registry_test

import (
	"context"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/registry"
)

func TestNobodyDisablesManagedHooksOrThoseOfTheHost(t *testing.T) {
	state, managed := t.TempDir(), tree(t, `
-- hooks/guard/HOOK.md --
+++
event = "PreToolUse"
command = "exit 2"
+++
`)
	dirs := tree(t, `
-- other/HOOK.md --
+++
event = "PreToolUse"
command = "exit 2"
+++
`)
	for _, id := range []string{"managed/guard", "dir/other", "in-process/mine"} {
		if err := pause.Open(state).Set(t.Context(), pause.Pause{Hook: id}); err != nil {
			t.Fatal(err)
		}
	}
	opts := only(dirs)
	opts.StateDir, opts.ManagedDir, opts.Without = state, managed, []hook.Scope{hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}
	reg, err := registry.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	on(t, reg, "mine", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return hook.Denied("mine"), nil })
	out, err := reg.Dispatch(t.Context(), hook.PreToolUse{ToolName: "Bash"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]hook.Status{}
	for _, r := range out.Results {
		got[r.Hook.ID] = r.Status
	}
	for id, want := range map[string]hook.Status{"dir/other": hook.StatusSkipped, "in-process/mine": hook.StatusBlocked} {
		if got[id] != want {
			t.Errorf("%s: %s, want %s", id, got[id], want)
		}
	}
	if s := got["managed/guard"]; s == hook.StatusSkipped {
		for _, r := range out.Results {
			t.Logf("%s: %s", r.Hook.ID, r.Reason)
		}
		if got["managed/guard"] == hook.StatusSkipped && !untrusted(out, "managed/guard") {
			t.Error("the managed hook is disabled")
		}
	}
}

// untrusted reports whether a hook was skipped for who could have written it: a
// managed folder of a test is root's only where the test runs as root.
func untrusted(out *hook.Outcome, id string) bool {
	for _, r := range out.Results {
		if r.Hook.ID == id {
			return r.Failure == hook.FailureUntrusted
		}
	}
	return false
}
