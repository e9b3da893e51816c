package registry_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// kept is a recorder that keeps everything.
type kept struct {
	mu      sync.Mutex
	records []hook.Record
}

func (k *kept) Record(r hook.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, r)
}

// prompt is such a recorder that is called within the dispatch.
type prompt struct{ kept }

func (p *prompt) Prompt() hook.Recorder { return p }

func TestRecorderGetsEachDispatchAndEachBackgroundResult(t *testing.T) {
	k := &kept{}
	opts := only()
	opts.Recorder = k
	reg, err := registry.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	on(t, reg, "guard", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return hook.Denied("no"), nil })
	on(t, reg, "audit", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil }, func(h *hook.Hook) { h.Async = true })
	out, err := reg.Dispatch(t.Context(), hook.PreToolUse{Base: hook.Base{SessionID: "s"}, ToolName: "Bash", ToolInput: []byte(`{"command":"ls"}`)})
	if err != nil || out.Run == "" {
		t.Fatalf("run %q, %v", out.Run, err)
	}
	if _, err := reg.Dispatch(t.Context(), hook.PostToolUse{ToolName: "Bash"}); err != nil { // concerns no hook
		t.Fatal(err)
	}
	if err := reg.Close(); err != nil { // waits for the background
		t.Fatal(err)
	}
	var dispatches, background int
	for _, r := range k.records {
		if r.Run != out.Run || r.Event != hook.EventPreToolUse || r.Tool != "Bash" || r.Base.SessionID != "s" || r.Time.IsZero() {
			t.Errorf("got %+v", r)
		}
		switch {
		case r.Background != nil:
			background++
		case r.Outcome.Verdict != hook.Deny || len(r.Payload) == 0:
			t.Errorf("outcome %+v, payload %s", r.Outcome, r.Payload)
		default:
			dispatches++
		}
	}
	if dispatches != 1 || background != 1 {
		t.Errorf("%d dispatches and %d background results", dispatches, background)
	}
}

// The caller may change the outcome while a recorder still writes it.
func TestRecordedOutcomeIsTheRecordersOwn(t *testing.T) {
	k := &kept{}
	opts := only()
	opts.Recorder = k
	reg := open(t, opts)
	on(t, reg, "guard", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return hook.Denied("no"), nil })
	out := dispatch(t, reg, inSession("s"))
	out.Verdict, out.Results[0].Status = hook.Allow, hook.StatusCancelled
	if got := k.records[0].Outcome; got.Verdict != hook.Deny || got.Results[0].Status != hook.StatusBlocked {
		t.Errorf("got %+v", got)
	}
}

func TestRecorderGetsTheEventAsTheHostGaveItAndWhyNothingWasDecided(t *testing.T) {
	k := &kept{}
	opts := only()
	opts.Recorder = k
	reg, err := registry.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	ctx, cancel := context.WithCancel(t.Context())
	on(t, reg, "rewriter", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
		return &hook.Output{UpdatedInput: []byte(`{"command":"pwd"}`)}, nil
	}, func(h *hook.Hook) { h.Rewrites = true })
	on(t, reg, "slow", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if in.Common().SessionID == "hurry" {
			cancel()
			<-ctx.Done()
		}
		return nil, nil
	})
	call := hook.PreToolUse{ToolName: "Bash", ToolInput: []byte(`{"command":"ls"}`)}
	if _, err := reg.Dispatch(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	call.SessionID = "hurry"
	if _, err := reg.Dispatch(ctx, call); err == nil {
		t.Fatal("the caller gave up, and something was decided")
	}
	if len(k.records) != 2 {
		t.Fatalf("%d records", len(k.records))
	}
	in, err := hook.DecodeInput(k.records[0].Payload)
	if got, _ := hook.ToolCallOf(in); err != nil || string(got.ToolInput) != `{"command":"ls"}` {
		t.Errorf("payload %s, %v", k.records[0].Payload, err)
	}
	if r := k.records[1]; r.Err == nil || r.Outcome != nil {
		t.Errorf("got %+v", r)
	}
}

// A record says all of a dispatch or a background result that a journal keeps.
// The names of runs sort by time.
func TestRecordSaysWhoAskedWhatWhenAndForHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		opts := only()
		opts.Recorder = k
		reg := open(t, opts)
		slow := func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			time.Sleep(2 * time.Second)
			return nil, nil
		}
		on(t, reg, "decides", slow)
		on(t, reg, "later", slow, async)
		in := inSession("s")
		in.Cwd = "/elsewhere"
		began, env := time.Now(), []string{"WHO=alice"}
		payload, _ := hook.Encode(in, in.Base)
		out, err := reg.Dispatch(registry.WithCaller(t.Context(), registry.Caller{Env: env}), in)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		whole := hook.Record{Run: out.Run, Time: began, Elapsed: 2 * time.Second, Workspace: reg.Workspace(), Event: hook.EventPreToolUse,
			Base: in.Base, Tool: "Bash", Env: env, Payload: payload, Outcome: out}
		later := whole
		later.Payload, later.Outcome = nil, nil
		opt := cmp.Options{cmpopts.IgnoreFields(hook.Record{}, "Background"), cmp.Comparer(func(a, b *hook.Outcome) bool {
			return a == b || a != nil && b != nil && a.Run == b.Run && a.Verdict == b.Verdict && len(a.Results) == len(b.Results)
		})}
		slices.SortFunc(k.records, func(a, b hook.Record) int { return len(b.Payload) - len(a.Payload) })
		if diff := cmp.Diff([]hook.Record{whole, later}, k.records, opt); diff != "" || k.records[1].Background == nil || k.records[0].Background != nil {
			t.Errorf("-want +got:\n%s", diff)
		}
		in.Cwd = ""
		time.Sleep(time.Second)
		if second := dispatch(t, reg, in); second.Run <= out.Run || len(second.Run) != len(out.Run) {
			t.Errorf("%q comes after %q", second.Run, out.Run)
		}
		synctest.Wait()
		for _, r := range k.records[2:] {
			if r.Base.Cwd != reg.Workspace() {
				t.Errorf("the working directory that the host left out is %q", r.Base.Cwd)
			}
		}
		if err := registry.On(reg, "quick", func(context.Context, hook.Stop) (*hook.Output, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		names := make(map[string]bool)
		for range 200 { // at one time
			names[dispatch(t, reg, hook.Stop{}).Run] = true
		}
		if len(names) != 200 {
			t.Errorf("%d names of 200 runs", len(names))
		}
	})
}

// durable is a recorder that says whether it wrote.
type durable struct {
	kept
	now func() error
	got []hook.Record
}

func (d *durable) RecordNow(_ context.Context, r hook.Record) error {
	d.got = append(d.got, r)
	return d.now()
}

// Where the settings say so, what can be blocked waits for its record, and is denied
// without one. What cannot be blocked, and what concerns no hook, waits for nothing.
func TestDecisionWithoutItsRecordIsDeniedWhereSettingsSaySo(t *testing.T) {
	const audited = "[audit]\non_failure = \"block\"\n"
	good := func() error { return nil }
	for name, tc := range map[string]struct {
		settings string
		now      func() error // nil = the recorder cannot say whether it wrote
		in       hook.Input
		asked    int    // how often it was asked to write at once
		later    int    // how often it was given a record otherwise
		denied   string // "" = it is not
	}{
		"it is written":           {audited, good, bash("ls"), 1, 0, ""},
		"it is not":               {audited, func() error { return errors.New("the disk is full") }, bash("ls"), 1, 1, "the disk is full"},
		"the recorder panics":     {audited, func() error { panic("boom") }, bash("ls"), 1, 1, "boom"},
		"it cannot say so":        {audited, nil, bash("ls"), 0, 1, "nothing records here"},
		"no hook is concerned":    {audited, good, hook.PreToolUse{ToolName: "Read"}, 0, 0, ""},
		"nothing can be blocked":  {audited, good, hook.PostToolUse{ToolName: "Bash"}, 0, 1, ""},
		"the settings do not ask": {"", func() error { return errors.New("the disk is full") }, bash("ls"), 0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // or a slow machine fails the record
				opts := machine(t, "")
				write(t, filepath.Join(opts.UserDir, "settings.toml"), tc.settings)
				to := &durable{now: tc.now}
				if opts.Recorder = to; tc.now == nil {
					opts.Recorder = &to.kept
				}
				reg := open(t, opts)
				on(t, reg, "guard", answer(nil), func(h *hook.Hook) { h.Matcher = "Bash" })
				if err := registry.On(reg, "observer", func(context.Context, hook.PostToolUse) (*hook.Output, error) { return nil, nil }); err != nil {
					t.Fatal(err)
				}
				out := dispatch(t, reg, tc.in)
				if (out.Verdict == hook.Deny) != (tc.denied != "") || !strings.Contains(out.Reason, tc.denied) {
					t.Errorf("%v %q, want %q", out.Verdict, out.Reason, tc.denied)
				}
				if n := len(out.Results) - 1; tc.denied != "" && (n != 1 || out.Results[n].Hook.ID != "tenterhook/audit" || out.Results[n].Hint == "") {
					t.Errorf("%v", ids(out))
				}
				if len(to.got) != tc.asked || len(to.records) != tc.later {
					t.Errorf("it was asked %d times to write at once and given %d records, want %d and %d", len(to.got), len(to.records), tc.asked, tc.later)
				}
				for _, r := range append(to.got, to.records...) {
					if r.Run == "" || r.Run != out.Run || r.Outcome == nil || r.Outcome.Run != out.Run || r.Event != tc.in.Event() {
						t.Errorf("record %+v of run %q", r, out.Run)
					}
				}
			})
		})
	}
}
