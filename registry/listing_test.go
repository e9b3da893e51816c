package registry_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/registry"
)

func TestListSaysThatABreakerIsOpen(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "good", answer(nil))
	on(t, reg, "bad", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, errors.New("bad") },
		func(h *hook.Hook) { h.Breaker.Failures, h.Breaker.Cooldown, h.Timeout = 2, time.Hour, 7*time.Second })
	for _, open := range []bool{false, true} {
		dispatch(t, reg, bash("ls"))
		if l := state(t, reg, "in-process/good"); l.State != hook.StateReady || l.Why != "" || l.Breaker.State != breaker.Closed || l.Breaker.Failures != 0 {
			t.Errorf("%+v", l)
		}
		l := state(t, reg, "in-process/bad")
		if says := strings.HasPrefix(l.Why, "its breaker is open: it failed 2 times in a row, and is skipped for "); says != open || (l.Why != "") != open {
			t.Errorf("open: %v, it says %q", open, l.Why)
		}
		if l.State != hook.StateReady || (l.Breaker.State == breaker.Open) != open || l.Breaker.Failures == 0 || l.Timeout != 7*time.Second {
			t.Errorf("open: %v: %+v", open, l)
		}
	}
}

// Why a hook cannot run goes before its open breaker.
func TestListSaysThatAHookIsOffThoughItsBreakerIsOpen(t *testing.T) {
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"agent\"\nprompt = \"x\"\n[breaker]\nfailures = 1\n+++\n")
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindAgent: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, errors.New("bad") })}
	reg := open(t, opts)
	dispatch(t, reg, bash("ls"))
	if l := state(t, reg, "user/a"); !strings.Contains(l.Why, "breaker is open") {
		t.Errorf("%+v", l)
	}
	write(t, filepath.Join(opts.UserDir, "settings.toml"), "disabled = [\"user/a\"]\n")
	reload(t, reg)
	if l := state(t, reg, "user/a"); l.State != hook.StateDisabled || l.Breaker.State != breaker.Open || l.Why == "" || strings.Contains(l.Why, "breaker") {
		t.Errorf("%+v", l)
	}
}

// ~ is the home of the user of this process where the environment of the hooks has none.
func TestHomeIsThatOfTheEnvironmentIfItNamesOne(t *testing.T) {
	process, own := t.TempDir(), t.TempDir()
	t.Setenv("HOME", process)
	t.Setenv("USERPROFILE", process)
	dir := tree(t, "-- keys/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Read(~/keys/**)\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n")
	for name, tc := range map[string]struct {
		env  []string
		home string
	}{
		"that of the hooks": {[]string{"HOME=" + own}, own},
		"an empty one":      {[]string{"HOME="}, process},
		"none":              {[]string{"PATH=" + os.Getenv("PATH")}, process},
		"all of ours":       {nil, process},
	} {
		opts := only(dir)
		opts.Env = tc.env
		reg := open(t, opts)
		for _, home := range []string{process, own} {
			raw := []byte(`{"file_path": "` + filepath.ToSlash(filepath.Join(home, "keys", "a")) + `"}`)
			want := hook.NoOpinion
			if home == tc.home {
				want = hook.Deny
			}
			if out := dispatch(t, reg, hook.PreToolUse{ToolName: "Read", ToolInput: raw}); out.Verdict != want {
				t.Errorf("%s: %s: %v", name, raw, out.Verdict)
			}
		}
	}
}

func TestHooksAreReadFromTheFileSystemOfTheHost(t *testing.T) {
	opts := machine(t, "")
	opts.FS = afero.NewMemMapFs()
	file := filepath.Join(opts.UserDir, "hooks", "guard", "HOOK.md")
	if err := afero.WriteFile(opts.FS, file, []byte("+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	reg := open(t, opts)
	if l := state(t, reg, "user/guard"); l.Hook == nil || l.Hook.Source.Path != file {
		t.Errorf("%+v", reg.List())
	}
	if err := reg.Watch(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "own file system") {
		t.Errorf("it is watched: %v", err)
	}
}

func TestApprovalsThatCannotBeReliedOnAreReported(t *testing.T) {
	opts := machine(t, "")
	handed := filepath.Join(t.TempDir(), "approvals.json")
	write(t, handed, "no approvals")
	also := handed + ".2"
	write(t, also, "nor these")
	opts.Approvals = []string{handed, also}
	said := make(map[string]bool)
	for _, d := range open(t, opts).Diagnostics() {
		said[d.Path] = said[d.Path] || d.Severity != "" && d.Message != ""
	}
	if !said[handed] || !said[also] {
		t.Errorf("reported are %v", said)
	}
}

func TestListOfDisabledHooksThatCannotBeReadIsReported(t *testing.T) {
	opts := machine(t, "")
	if err := pause.Open(opts.StateDir).Set(t.Context(), pause.Pause{Hook: "user/a"}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(opts.StateDir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			write(t, file, "no list")
		}
	}
	for _, d := range open(t, opts).Diagnostics() {
		if d.Code == "disabled_list" && d.Path == opts.StateDir && d.Severity == hook.SeverityWarning && d.Hint != "" {
			return
		}
	}
	t.Error("nothing is said of the list")
}

// Bounds below zero are those of the zero value.
func TestNegativeBoundsAreTheUsualOnes(t *testing.T) {
	opts := only()
	opts.MaxParallel, opts.MaxAsync = -1, -1
	reg := open(t, opts)
	on(t, reg, "a", answer(nil))
	on(t, reg, "b", answer(nil))
	on(t, reg, "c", answer(nil), async)
	results := reg.Async()
	if got := strings.Join(ids(dispatch(t, reg, bash("ls"))), ", "); got != "in-process/a success, in-process/b success, in-process/c async" {
		t.Error(got)
	}
	select {
	case r := <-results:
		if r.Result.Status != hook.StatusSuccess {
			t.Errorf("%+v", r.Result)
		}
	case <-time.After(30 * time.Second):
		t.Error("nothing runs in the background")
	}
}

// A hook that goes and comes again has not run.
func TestReloadForgetsWhatHooksThatAreGoneHaveRun(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md")
	reg := open(t, opts)
	for range 2 {
		write(t, file, "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"warn\"\nreason = \"no\"\nonce = true\n+++\n")
		reload(t, reg)
		for want := 1; want >= 0; want-- {
			if out := dispatch(t, reg, inSession("s")); len(out.SystemMessages) != want {
				t.Errorf("%d warnings, want %d", len(out.SystemMessages), want)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		reload(t, reg)
	}
}

func TestWatchNeedsNobodyToTell(t *testing.T) {
	opts := machine(t, "")
	reg := open(t, opts)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- reg.Watch(ctx, nil) }()
	write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")
	for until := time.Now().Add(30 * time.Second); len(reg.List()) == 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil || len(reg.List()) != 1 {
		t.Errorf("%v, %d hooks", err, len(reg.List()))
	}
}

// Names of dispatches sort by their times, and two of the same time differ.
func TestNamesOfDispatchesSortByTime(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	one, same, later := registry.NewRun(at), registry.NewRun(at), registry.NewRun(at.Add(time.Second))
	if one == same || one >= later || same >= later || one == "" {
		t.Errorf("%q, %q, %q", one, same, later)
	}
}

func TestWorkspaceThatWasDeletedCannotBeOpened(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip("Windows keeps a folder that is in use:", err)
	}
	opts := only()
	opts.Workspace = "below"
	if reg, err := registry.Open(t.Context(), opts); reg != nil || err == nil || !strings.Contains(err.Error(), "workspace") {
		t.Errorf("%v, %v", reg, err)
	}
}

func TestStrictRulesSeeThroughNoOtherProgram(t *testing.T) {
	dir := tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Bash(rm *)\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n")
	for strict, want := range map[bool]hook.Verdict{false: hook.Deny, true: hook.NoOpinion} {
		opts := only(dir)
		opts.StrictCompat = strict
		reg := open(t, opts)
		if out := dispatch(t, reg, bash("sudo rm x")); out.Verdict != want {
			t.Errorf("strict %v: %v", strict, out.Verdict)
		}
		if out := dispatch(t, reg, bash("rm x")); out.Verdict != hook.Deny {
			t.Errorf("strict %v: the command itself: %v", strict, out.Verdict)
		}
	}
}

// Why a hook is not selected is said first, and what else keeps it from running is not.
func TestSelectionSaysWhyAHookWasNotSelected(t *testing.T) {
	lacks := opinion{closing{new(int)}, map[string][]hook.Diagnostic{"a": {{Severity: hook.SeverityError, Code: "no_model", Message: "no model", Hint: "set one"}}}}
	opts := only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"agent\"\nprompt = \"x\"\nif = \"Bash(rm *)\"\n+++\n"))
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindAgent: lacks}
	reg := open(t, opts)
	for command, want := range map[string]string{"ls": "if", "rm x": "ineligible"} {
		if s := reg.Select(bash(command)); len(s.Selected) != 0 || len(s.Skipped()) != 1 || s.Skipped()[0].Why != want {
			t.Errorf("%s: %+v", command, s.Skipped())
		}
	}
}

// What a command names by a variable is found in the environment of the process, too.
func TestScriptThatAVariableOfTheProcessNamesIsBound(t *testing.T) {
	tools := t.TempDir()
	write(t, filepath.Join(tools, "check.sh"), "exit 0\n")
	t.Setenv("TENTERHOOK_TEST_TOOLS", filepath.ToSlash(tools))
	opts := machine(t, "-- w/.tenterhook/hooks/a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"sh $TENTERHOOK_TEST_TOOLS/check.sh\"\n+++\n")
	opts.Env = nil
	reg := open(t, opts)
	approve(t, reg)
	if l := state(t, reg, "project/a"); l.State != hook.StateReady || l.Unbound != "" {
		t.Errorf("%+v", l)
	}
	write(t, filepath.Join(tools, "check.sh"), "exit 2\n")
	if l := state(t, reg, "project/a"); l.State != hook.StateUntrusted {
		t.Errorf("its script changed: %+v", l)
	}
}

// A folder is made first, and its HOOK.md much later.
func TestWatchSeesAHookInAFolderThatWasThereBefore(t *testing.T) {
	for name, place := range map[string]func(opts *registry.Options) (folder string){
		"of the user":           func(opts *registry.Options) string { return filepath.Join(opts.UserDir, "hooks", "a") },
		"of a package":          func(opts *registry.Options) string { return filepath.Join(opts.PluginsDir, "a", "hooks", "x") },
		"of a named folder":     func(opts *registry.Options) string { return filepath.Join(opts.Dirs[0], "a") },
		"of a folder of scopes": func(opts *registry.Options) string { return filepath.Join(opts.Dirs[0], "hooks", "a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := machine(t, "")
			opts.Dirs = []string{t.TempDir()}
			folder := place(&opts)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			reg := open(t, opts)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- reg.Watch(ctx, nil) }()
			time.Sleep(500 * time.Millisecond) // the watch is at rest
			write(t, filepath.Join(folder, "HOOK.md"), "+++\nevent = \"Stop\"\ntype = \"rule\"\ndecision = \"warn\"\nreason = \"no\"\n+++\n")
			for until := time.Now().Add(30 * time.Second); len(reg.List()) == 0 && time.Now().Before(until); {
				time.Sleep(time.Millisecond)
			}
			cancel()
			if err := <-ended; err != nil || len(reg.List()) != 1 {
				t.Errorf("%v, %d hooks", err, len(reg.List()))
			}
		})
	}
}
