//go:build !windows

package registry_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// approved opens a workspace whose settings run a script for PreToolUse, and
// approves it. The script says "good" on stderr and exits with 2.
func approved(t *testing.T, opts registry.Options, command string) (reg *registry.Registry, script string) {
	t.Helper()
	script = filepath.Join(opts.Workspace, "check.sh")
	write(t, script, "#!/bin/sh\necho good >&2\nexit 2\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), handlers("PreToolUse", command))
	reg = open(t, opts)
	approve(t, reg)
	return reg, script
}

// own returns the result of the workspace's hook.
func own(t *testing.T, out *hook.Outcome) hook.Result {
	t.Helper()
	for _, r := range out.Results {
		if r.Hook.Scope == hook.ScopeProject {
			return r
		}
	}
	t.Fatalf("no result of the workspace's hook: %v", ids(out))
	return hook.Result{}
}

func TestScriptThatChangesWhileARewriterRunsDoesNotRun(t *testing.T) {
	opts := machine(t, "")
	script := filepath.Join(opts.Workspace, "check.sh")
	put(t, filepath.Join(opts.UserDir, "hooks"), "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"./a.sh\"\nrewrites = true\n+++\n"+
		"-- a/a.sh --\n#!/bin/sh\necho 'echo evil >&2; exit 2' > "+script+"\n")
	reg, _ := approved(t, opts, "sh check.sh")
	out := dispatch(t, reg, bash("ls"))
	if out.Results[0].Hook.ID != "user/a" || out.Results[0].Status != hook.StatusSuccess {
		t.Fatalf("the rewriter did not come first: %v", ids(out))
	}
	// It was selected as approved, so that it is no skipped hook but a failed one.
	if r := own(t, out); r.Status != hook.StatusFailed || r.Failure != hook.FailureUntrusted {
		t.Errorf("%+v", r)
	}
}

// The second asking, on the input that a hook beside it rewrote.
func TestScriptThatChangesBeforeItIsAskedAgainDoesNotRun(t *testing.T) {
	opts := machine(t, "")
	mark, script := filepath.Join(t.TempDir(), "mark"), filepath.Join(opts.Workspace, "check.sh")
	write(t, script, "cat > /dev/null; : > "+mark+"; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"}}'; exit\n")
	write(t, filepath.Join(opts.UserDir, "settings.toml"), "[sandbox]\nproject = \"none\"\n") // so that it can write the mark
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), handlers("PreToolUse", "cat | sh check.sh"))
	reg := open(t, opts)
	approve(t, reg)
	on(t, reg, "rewriter", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
		for until := time.Now().Add(15 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(mark); err == nil { // the script has been asked once
				break
			}
		}
		write(t, script, "echo evil >&2\nexit 2\n")
		return &hook.Output{UpdatedInput: []byte(`{"command": "pwd"}`)}, nil
	})
	out := dispatch(t, reg, bash("ls"))
	if r := own(t, out); strings.Contains(r.Reason, "evil") || r.Failure != hook.FailureUntrusted {
		t.Errorf("%+v", r)
	}
	if r := own(t, out); out.Verdict != hook.Ask || r.Earlier == nil || r.Earlier.Verdict() != hook.Ask {
		t.Errorf("what it asked for before does not stand: %v %+v", out.Verdict, r)
	}
}

func TestScriptThatChangesBeforeItsBackgroundStartDoesNotRun(t *testing.T) {
	opts := machine(t, "")
	opts.MaxAsync = 1
	dir := t.TempDir()
	mark, free := filepath.Join(dir, "mark"), filepath.Join(dir, "free") // with which the only place becomes free
	results := make(chan registry.AsyncResult, 2)
	opts.OnAsync = func(a registry.AsyncResult) { results <- a }
	put(t, filepath.Join(opts.UserDir, "hooks"), "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"while ! [ -e "+free+" ]; do sleep 0.02; done\"\nasync = true\n+++\n")
	script := filepath.Join(opts.Workspace, "check.sh")
	write(t, script, "echo good > "+mark+"\n")
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), entry(`"command": "sh check.sh", "async": true`))
	reg := open(t, opts)
	approve(t, reg)
	dispatch(t, reg, bash("ls"))
	write(t, script, "echo evil > "+mark+"\n")
	write(t, free, "")
	for range 2 {
		if a := <-results; a.Result.Hook.Scope == hook.ScopeProject && a.Result.Failure != hook.FailureUntrusted {
			t.Errorf("%+v", a.Result)
		}
	}
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("it ran: %q", data)
	}
}

// A process that holds a page mapped can change it without a trace in the file's
// times.
func TestScriptThatChangesThroughAMappingDoesNotRun(t *testing.T) {
	opts := machine(t, "")
	reg, script := approved(t, opts, "sh check.sh")
	f, err := os.OpenFile(script, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	size := len("#!/bin/sh\necho good >&2\nexit 2\n")
	page, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Skip("no mapping here:", err)
	}
	f.Close()
	page[len("#!/bin/sh\necho ")] = 'g' // the page is dirty from here on
	settle()
	for range 2 {
		if r := own(t, dispatch(t, reg, bash("ls"))); r.Reason != "good" {
			t.Fatalf("approved: %+v", r)
		}
	}
	copy(page[len("#!/bin/sh\necho "):], "evil")
	r := own(t, dispatch(t, reg, bash("ls")))
	if err := syscall.Munmap(page); err != nil {
		t.Error(err)
	}
	if r.Failure != hook.FailureUntrusted {
		t.Errorf("%+v", r)
	}
}

// What a command comes to for one caller, or in one directory, says nothing about
// another.
func TestCallersDoNotShareWhatACommandComesTo(t *testing.T) {
	opts := machine(t, "")
	opts.Env = []string{"PATH=/usr/bin:/bin"}
	dirs := []string{t.TempDir(), t.TempDir()}
	for i, dir := range dirs {
		write(t, filepath.Join(dir, "tool"), "#!/bin/sh\necho '"+strings.Repeat("x", i+1)+"' >&2\nexit 2\n")
		if err := os.Chmod(filepath.Join(dir, "tool"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(opts.UserDir, "hooks"), "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"tool\"\n+++\n")
	reg := open(t, opts)
	for range 3 {
		for i, dir := range dirs {
			ctx := registry.WithCaller(t.Context(), registry.Caller{Env: []string{"PATH=" + dir + ":/usr/bin:/bin"}})
			out, err := reg.Dispatch(ctx, bash("ls"))
			if err != nil || out.Reason != strings.Repeat("x", i+1) {
				t.Fatalf("caller %d: %q %v", i, out.Reason, err)
			}
		}
	}
}

// A caller whose PATH leads into the workspace runs nothing that was not approved.
func TestProgramOfTheWorkspaceThatACallersPathLeadsToIsBound(t *testing.T) {
	opts := machine(t, "")
	opts.Env = []string{"PATH=/usr/bin:/bin"}
	mark := filepath.Join(t.TempDir(), "mark")
	write(t, filepath.Join(opts.Workspace, "check.txt"), "x")
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), handlers("PreToolUse", "cat check.txt"))
	reg := open(t, opts)
	approve(t, reg)
	cat := filepath.Join(opts.Workspace, "bin", "cat")
	write(t, cat, "#!/bin/sh\necho evil > "+mark+"\n")
	if err := os.Chmod(cat, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx := registry.WithCaller(t.Context(), registry.Caller{Env: []string{"PATH=" + filepath.Dir(cat) + ":/usr/bin:/bin"}})
	out, err := reg.Dispatch(ctx, bash("ls"))
	if err != nil {
		t.Fatal(err)
	}
	if r := own(t, out); r.Failure != hook.FailureUntrusted {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
	if r := own(t, dispatch(t, reg, bash("ls"))); r.Status != hook.StatusSuccess {
		t.Errorf("without that PATH: %+v", r)
	}
}

// A script of the workspace that a package's hook names is the workspace's, and
// bound.
func TestPackageHookIsBoundToTheWorkspacesScript(t *testing.T) {
	opts := machine(t, "")
	pkg := filepath.Join(opts.PluginsDir, "p")
	write(t, filepath.Join(pkg, "check.sh"), "echo package >&2; exit 2\n")
	write(t, filepath.Join(pkg, "hooks", "hooks.json"), handlers("PreToolUse", `sh "$CLAUDE_PROJECT_DIR"/check.sh`))
	script := filepath.Join(opts.Workspace, "check.sh")
	write(t, script, "echo workspace >&2; exit 2\n")
	reg := open(t, opts)
	approve(t, reg)
	if out := dispatch(t, reg, bash("ls")); out.Reason != "workspace" {
		t.Fatalf("%v %q", ids(out), out.Reason)
	}
	write(t, filepath.Join(pkg, "check.sh"), "echo other >&2; exit 2\n") // nothing names it
	if out := dispatch(t, reg, bash("ls")); out.Reason != "workspace" {
		t.Errorf("%v %q", ids(out), out.Reason)
	}
	write(t, script, "echo evil >&2; exit 2\n")
	if out := dispatch(t, reg, bash("ls")); len(out.Results) != 1 || out.Results[0].Failure != hook.FailureUntrusted {
		t.Errorf("%v %q", ids(out), out.Reason)
	}
}
