package registry_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
	"github.com/tenterhook/tenterhook/internal/pack/packtest"
	"github.com/tenterhook/tenterhook/registry"
)

// queued is a pack with a hook for workers.
var queued = map[string]string{
	"slow/HOOK.md": "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\nasync = true\nqueue = \"builds\"\n+++\n",
	"off/HOOK.md":  "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\nenabled = false\n+++\n",
	"stop/HOOK.md": "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n",
}

// withPack is a machine whose user names the pack, and whose commands are run by a function.
func withPack(t *testing.T, run hook.HandlerFunc) registry.Options {
	t.Helper()
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.toml"), packs("team", queued))
	packtest.Put(t, opts.StateDir, queued)
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: run}
	return opts
}

func TestHookOfAQueueIsHandedToAWorkerWhoseResultComes(t *testing.T) {
	opts := withPack(t, func(context.Context, *hook.Call) (*hook.Output, error) {
		t.Error("it runs here")
		return nil, nil
	})
	reg := open(t, opts)
	results, spool := reg.Async(), jobs.In(opts.StateDir)
	var waiting []jobs.Waiting
	for i, command := range []string{"one", "two"} {
		call := bash(command)
		call.SessionID, call.Cwd = "s", "/elsewhere"
		out := dispatch(t, reg, call)
		if r := out.Results[0]; len(out.Results) != 2 || r.Status != hook.StatusAsync && out.Results[1].Status != hook.StatusAsync {
			t.Fatalf("%+v", out.Results)
		}
		for until := time.Now().Add(30 * time.Second); len(waiting) <= i && time.Now().Before(until); time.Sleep(time.Millisecond) {
			var err error
			if waiting, err = spool.New(); err != nil {
				t.Fatal(err)
			}
		}
		if len(waiting) != i+1 {
			t.Fatalf("%d jobs wait after %d calls", len(waiting), i+1)
		}
	}
	for _, w := range waiting {
		if w.Job.Queue != "builds" || w.Job.Digest != packtest.Digest(queued) || w.Job.File != "slow/HOOK.md" || w.Job.Event != hook.EventPreToolUse {
			t.Errorf("the job: %+v", w.Job)
		}
		if l := w.Local; l.Hook != "plugin/team/slow" || l.Workspace != opts.Workspace || l.Tool != "Bash" || l.Base.SessionID != "s" || l.Run != "" ||
			l.Time.IsZero() || !strings.HasSuffix(l.Source, filepath.Join("slow", "HOOK.md")+":2") {
			t.Errorf("what stays here: %+v", l)
		}
		r := jobs.Of(w.Job.ID, "worker-1", 1, &hook.Result{Status: hook.StatusFailed, Failure: hook.FailureExit, Reason: "broken by " + w.Job.ID})
		if err := spool.Finish(r); err != nil {
			t.Fatal(err)
		}
	}
	for range waiting {
		select {
		case got := <-results:
			if got.Result.Hook.ID != "plugin/team/slow" || got.Result.Status != hook.StatusFailed || !strings.Contains(got.Result.Reason, "broken by ") {
				t.Errorf("%+v", got.Result)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no result comes")
		}
	}
	looks := func() bool {
		stacks := make([]byte, 1<<20)
		return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*pool).look")
	}
	for until := time.Now().Add(30 * time.Second); looks(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("results are looked for although none is waited for")
		}
	}
}

func TestHookOfAQueueThatIsOfNoPackFails(t *testing.T) {
	opts := only(tree(t, "-- slow/HOOK.md --\n"+queued["slow/HOOK.md"]))
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil })}
	r := dispatch(t, open(t, opts), bash("ls")).Results[0]
	if r.Status != hook.StatusFailed || r.Failure != hook.FailureInvalid || !strings.Contains(r.Reason, "of packs") || r.Hint == "" || r.Err == nil {
		t.Errorf("%+v", r)
	}
}

func TestWorkerRunsTheHookOfAPackThatAJobNames(t *testing.T) {
	var calls []*hook.Call
	opts := withPack(t, func(_ context.Context, c *hook.Call) (*hook.Output, error) {
		calls = append(calls, c)
		return hook.Denied("worker says no"), nil
	})
	reg := open(t, opts)
	digest := packtest.Digest(queued)
	in := bash("make")
	in.Cwd = "/of/another/machine"
	r, err := reg.RunPacked(t.Context(), digest, "slow/HOOK.md", in)
	if err != nil || r.Hook == nil || r.Hook.ID != "plugin/team/slow" || r.Status != hook.StatusBlocked || r.Output == nil || r.Output.Reason != "worker says no" {
		t.Fatalf("%+v, %v", r, err)
	}
	if c := calls[0]; len(calls) != 1 || c.Dir != opts.Workspace || !strings.Contains(string(c.Payload), `"make"`) {
		t.Errorf("%d calls, in %s: %s", len(calls), calls[0].Dir, calls[0].Payload)
	}
	if r, err := reg.RunPacked(t.Context(), digest, "off/HOOK.md", in); err != nil || r.Status != hook.StatusSkipped || r.Reason == "" {
		t.Errorf("one that is switched off: %+v, %v", r, err)
	}
	for name, of := range map[string][2]string{"another pack": {"sha256:" + strings.Repeat("0", 64), "slow/HOOK.md"}, "another file": {digest, "none/HOOK.md"},
		"another event": {digest, "stop/HOOK.md"}, "no pack": {"", "slow/HOOK.md"}} {
		if r, err := reg.RunPacked(t.Context(), of[0], of[1], in); !errors.Is(err, registry.ErrNotInForce) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if r, err := reg.RunPacked(t.Context(), digest, "slow/HOOK.md", hook.PreToolUse{ToolName: "Bash", ToolInput: []byte("{")}); err == nil {
		t.Errorf("input that is no JSON: %+v", r)
	}
	if len(calls) != 1 {
		t.Errorf("it was called %d times", len(calls))
	}
	if err := reg.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reg.RunPacked(t.Context(), digest, "slow/HOOK.md", in); !errors.Is(err, registry.ErrClosed) {
		t.Errorf("of a closed registry: %v", err)
	}
}
