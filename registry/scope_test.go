package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

func denies(name string) string {
	return "-- " + name + "/HOOK.md --\n+++\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n+++\n"
}

func scopes(t *testing.T) registry.Options {
	base := t.TempDir()
	opts := registry.Options{Workspace: filepath.Join(base, "w"), ManagedDir: filepath.Join(base, "managed"),
		UserDir: filepath.Join(base, "user"), PluginsDir: filepath.Join(base, "plugins")}
	for _, dir := range []string{opts.Workspace, opts.ManagedDir, opts.UserDir, opts.PluginsDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return opts
}

func put(t *testing.T, dir, archive string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(tree(t, archive))); err != nil {
		t.Fatal(err)
	}
}

// Hooks of one name in several scopes all run, and so do those of one folder. Of
// two folders that the operator named, the later one's hook takes the place of the
// earlier one's where it is asked about as much.
func TestF10OnlyALaterDirOverridesAHookOfItsName(t *testing.T) {
	needsRoot(t)
	opts := scopes(t)
	put(t, filepath.Join(opts.ManagedDir, "hooks"), denies("guard"))
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	opts.Dirs = []string{tree(t, denies("a")), tree(t, denies("b")+denies("c"))}
	reg := open(t, opts)
	var got []string
	for _, l := range reg.List() {
		got = append(got, l.Hook.ID+" "+filepath.Base(l.Hook.Source.Dir)+" "+string(l.State))
	}
	want := []string{"managed/guard guard ready", "user/guard guard ready", "dir/guard a shadowed", "dir/guard b ready", "dir/guard c ready"}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	out := dispatch(t, reg, bash("ls"))
	blocked := 0
	for _, r := range out.Results {
		if r.Status == hook.StatusBlocked {
			blocked++
		}
	}
	if blocked != 4 {
		t.Errorf("%d block: %v", blocked, ids(out))
	}
}

// Each of many folders brings a hook of one name that cannot run: the first one
// runs, and each is examined a few times, not once for each set of the others.
func TestHooksOfOneNameThatCannotRunAreExaminedOnceEach(t *testing.T) {
	dirs := []string{tree(t, "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n+++\n")}
	const more = 24 // 2^24 looks would take longer than a test may
	for range more {
		dirs = append(dirs, tree(t, "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"./gone.sh\"\n+++\n"))
	}
	out := dispatch(t, open(t, only(dirs...)), bash("ls"))
	if out.Verdict != hook.Deny || len(out.Results) != more+1 {
		t.Errorf("%s: %+v", out.Verdict, out.Results)
	}
}

// What would not be asked about a call, or not decide it, overrides nothing that
// does, although the operator named its folder.
func TestLaterDirThatIsAskedLessOverridesNothing(t *testing.T) {
	for name, keys := range map[string]string{
		"another event":     "event = \"Stop\"",
		"another matcher":   "event = \"PreToolUse\"\nmatcher = \"Write\"",
		"another syntax":    "event = \"PreToolUse\"\nmatcher = \"Bas.\"",
		"a rule":            "event = \"PreToolUse\"\nif = \"Bash(rm *)\"",
		"in the background": "event = \"PreToolUse\"\nasync = true",
		"once":              "event = \"PreToolUse\"\nonce = true",
		"switched off":      "event = \"PreToolUse\"\nenabled = false",
		"broken":            "event = \"PreToolUse\"\ntimeout = \"soon\"",
		"a missing program": "event = \"PreToolUse\"\nrequires.bins = [\"no-such-program-here\"]",
		"a broken matcher":  "event = \"PreToolUse\"\nmatcher = \"Ba(sh\"",
		"a broken rule":     "event = \"PreToolUse\"\nif = \"Bash(rm *\"",
		"a missing script":  "event = \"PreToolUse\"\ncommand = \"./gone.sh\"",
		"an URL":            "event = \"PreToolUse\"\ntype = \"http\"\nurl = \"https://example.com\"",
		"a condition":       "event = \"PreToolUse\"\ntype = \"rule\"\nwhen = \"false\"\ndecision = \"deny\"\nreason = \"R\"",
		"paths":             "event = \"PreToolUse\"\ntype = \"rule\"\ntouches = \"x\"\ndecision = \"deny\"\nreason = \"R\"",
	} {
		if !strings.Contains(keys, "command") && !strings.Contains(keys, "type") {
			keys += "\ncommand = \"true\""
		}
		for _, matcher := range []string{"", "matcher = \"Bash\"\n"} {
			near := "-- guard/HOOK.md --\n+++\n" + keys + "\n+++\n"
			far := "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n" + matcher + "+++\n"
			out := dispatch(t, open(t, only(tree(t, far), tree(t, near))), bash("ls"))
			if out.Verdict != hook.Deny {
				t.Errorf("%s: %v %v", name, out.Verdict, ids(out))
			}
		}
	}
}

func TestWorkspaceHooksDoNotRunUnapprovedAndShadowNothing(t *testing.T) {
	opts := scopes(t)
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "hooks"), denies("guard"))
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "local", "hooks"), denies("guard"))
	put(t, filepath.Join(opts.PluginsDir, "pack", "hooks"), denies("guard"))
	reg := open(t, opts)
	want := []string{"user/guard blocked", "project/guard skipped untrusted", "local/guard skipped untrusted", "plugin/pack/guard skipped untrusted"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestF5FolderThatOthersCanWriteIsNotTrusted(t *testing.T) {
	built.NotOnWindows(t, "no mode says who may write, and access lists are not judged")
	opts := scopes(t)
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	if err := os.Chmod(filepath.Join(opts.UserDir, "hooks"), 0o777); err != nil {
		t.Fatal(err)
	}
	reg := open(t, opts)
	l := state(t, reg, "user/guard")
	if l.State != hook.StateUntrusted || !hook.HasErrors(reg.Diagnostics()) {
		t.Errorf("%s %q %v", l.State, l.Why, reg.Diagnostics())
	}
}

// approve approves every definition that needs it.
func approve(t *testing.T, reg *registry.Registry) {
	t.Helper()
	approveWith(t, reg, reg.Approvals().Approve)
}

// approveUnbound is approve for commands whose files cannot all be located.
func approveUnbound(t *testing.T, reg *registry.Registry) {
	t.Helper()
	approveWith(t, reg, reg.Approvals().ApproveUnbound)
}

func approveWith(t *testing.T, reg *registry.Registry, record func(...*trust.Seal) error) {
	t.Helper()
	for _, s := range reg.Subjects() {
		seal, err := s.Seal()
		if err != nil {
			t.Fatal(err)
		}
		if err := record(seal); err != nil {
			t.Fatal(err)
		}
	}
}

const projectGuard = `
-- guard/HOOK.md --
+++
event = "PreToolUse"
command = "./guard.sh"
on_failure = "block"
+++
-- guard/guard.sh --
#!/bin/sh
. ./words.sh
echo "$WORDS" >&2
exit 2
-- guard/words.sh --
WORDS=approved
`

func TestF4EditedHookIsUntrustedAndItsPolicyApplies(t *testing.T) {
	opts := scopes(t)
	opts.StateDir = t.TempDir()
	hooks := filepath.Join(opts.Workspace, ".tenterhook", "hooks")
	put(t, hooks, projectGuard)
	if err := os.Chmod(filepath.Join(hooks, "guard", "guard.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	reg := open(t, opts)
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || out.Results[0].Failure != hook.FailureUntrusted {
		t.Fatalf("before approval: %v %v", out.Verdict, ids(out))
	}
	approve(t, reg)
	if out := dispatch(t, reg, bash("ls")); out.Results[0].Status != hook.StatusBlocked || out.Reason != "approved" {
		t.Fatalf("approved: %q %v", out.Reason, ids(out))
	}
	if err := os.WriteFile(filepath.Join(hooks, "guard", "words.sh"), []byte("WORDS=edited\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := dispatch(t, reg, bash("ls"))
	if out.Results[0].Failure != hook.FailureUntrusted || out.Verdict != hook.Deny || out.Results[0].Hint == "" {
		t.Errorf("edited: %v %q %v", out.Verdict, out.Reason, ids(out))
	}
}

func TestF3ApprovedBytesRunOrNothingDoes(t *testing.T) {
	opts := scopes(t)
	opts.StateDir = t.TempDir()
	hooks := filepath.Join(opts.Workspace, ".tenterhook", "hooks")
	put(t, hooks, `
-- a-swaps/HOOK.md --
+++
event = "PreToolUse"
command = "./swap.sh"
rewrites = true
sandbox = "none"
+++
-- a-swaps/swap.sh --
#!/bin/sh
echo 'WORDS=swapped' > "$TENTERHOOK_PROJECT_DIR/.tenterhook/hooks/guard/words.sh"
`+projectGuard)
	for _, script := range []string{"guard/guard.sh", "a-swaps/swap.sh"} {
		if err := os.Chmod(filepath.Join(hooks, script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	reg := open(t, opts)
	approve(t, reg)
	// The first hook swaps a file of the second between its check and its start.
	out := dispatch(t, reg, bash("ls"))
	ran := out.Results[1].Status == hook.StatusBlocked && out.Reason == "approved"
	refused := out.Results[1].Failure == hook.FailureUntrusted
	if out.Results[0].Status != hook.StatusSuccess || !ran && !refused || out.Verdict != hook.Deny {
		t.Errorf("%q %v", out.Reason, ids(out))
	}
}

func TestF7UnapprovedHookSwitchesNoneOfItsNameOff(t *testing.T) {
	opts := scopes(t)
	opts.StateDir = t.TempDir()
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	hooks := filepath.Join(opts.Workspace, ".tenterhook", "hooks")
	put(t, hooks, denies("guard"))
	reg := open(t, opts)
	want := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", when, diff)
		}
	}
	want("unapproved", "user/guard blocked", "project/guard skipped untrusted")
	approve(t, reg)
	want("approved", "user/guard blocked", "project/guard blocked")
	if err := os.WriteFile(filepath.Join(hooks, "guard", "added"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want("edited", "user/guard blocked", "project/guard skipped untrusted")
}

// An approved hook of a workspace that bears the name of the user's guard leaves
// it in force, whatever it declares.
func TestApprovedHookOfTheSameNameLeavesTheUsersGuardInForce(t *testing.T) {
	for name, keys := range map[string]string{
		"the same":          "event = \"PreToolUse\"",
		"another event":     "event = \"Stop\"",
		"another matcher":   "event = \"PreToolUse\"\nmatcher = \"Write\"",
		"a rule":            "event = \"PreToolUse\"\nif = \"Bash(rm *)\"",
		"a missing program": "event = \"PreToolUse\"\nrequires.bins = [\"no-such-program-here\"]",
		"in the background": "event = \"PreToolUse\"\nasync = true",
		"switched off":      "event = \"PreToolUse\"\nenabled = false",
		"first in order":    "event = \"PreToolUse\"\npriority = 100",
	} {
		for _, scope := range []string{".tenterhook", ".tenterhook/local"} {
			opts := scopes(t)
			opts.StateDir = t.TempDir()
			put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
			put(t, filepath.Join(opts.Workspace, scope, "hooks"), "-- guard/HOOK.md --\n+++\nname = \"guard\"\ncommand = \"true\"\n"+keys+"\n+++\n")
			reg := open(t, opts)
			approve(t, reg)
			out := dispatch(t, reg, bash("ls"))
			if out.Verdict != hook.Deny || out.Results[0].Hook.ID != "user/guard" || out.Results[0].Status != hook.StatusBlocked {
				t.Errorf("%s, %s: %v %v", name, scope, out.Verdict, ids(out))
			}
		}
	}
}

// An approved copy of the user's guard in a workspace that differs in anything
// that decides what runs leaves it in force.
func TestApprovedCopyLeavesTheUsersGuardInForce(t *testing.T) {
	const guard = `"command": "exit 2"`
	for _, differs := range []string{`"timeout": 0.01`, `"shell": "powershell"`, `"worker": true`, `"async": true`, `"asyncRewake": true`, `"once": true`,
		`"env": {"PATH": "/nowhere"}`, `"args": ["x"]`, `"protocol": "moltis"`, `"rewrites": true`, `"onFailure": "continue"`, `"statusMessage": "x"`,
		`"requires": {"envs": ["HOME"]}`, `"breaker": {"failures": 1}`, `"if": "Bash(ls)"`} {
		opts := machine(t, "")
		write(t, filepath.Join(opts.UserDir, "settings.json"), entry(guard))
		write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), entry(guard+", "+differs))
		reg := open(t, opts)
		approveUnbound(t, reg)
		for range 2 { // a hook that runs once has run the second time
			out := dispatch(t, reg, bash("ls"))
			if out.Verdict != hook.Deny || out.Results[0].Hook.Scope != hook.ScopeUser || out.Results[0].Status != hook.StatusBlocked {
				t.Errorf("%s: %v %v", differs, out.Verdict, ids(out))
			}
		}
	}
}

// A copy that blocks on failure makes the user's hook do so: a nearer scope may be
// stricter.
func TestApprovedCopyMayMakeTheUsersHookStricter(t *testing.T) {
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "exit 3"`))
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), entry(`"command": "exit 3", "onFailure": "block"`))
	reg := open(t, opts)
	approve(t, reg)
	out := dispatch(t, reg, bash("ls"))
	want := []string{"user/settings.json:PreToolUse[0].0 failed exit", "project/settings.json:PreToolUse[0].0 skipped"}
	if diff := cmp.Diff(want, ids(out)); diff != "" || out.Verdict != hook.Deny {
		t.Errorf("%v -want +got:\n%s", out.Verdict, diff)
	}
}
