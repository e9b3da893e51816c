package dispatch

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// record gives the dispatch to the recorder, where there is one.
func (d *dispatch) record(from *selection.Caller, out *hook.Outcome, err error) {
	d.r.keep(d.recordOf(from, out, err))
}

func (d *dispatch) recordOf(from *selection.Caller, out *hook.Outcome, err error) hook.Record {
	call, _ := hook.ToolCallOf(d.in)
	if out != nil { // the caller may change it once Dispatch returns
		own := *out
		own.Results = slices.Clone(out.Results)
		out = &own
	}
	return hook.Record{Run: d.run, Time: d.began, Elapsed: time.Since(d.began), Workspace: d.r.opts.Workspace, Event: d.in.Event(),
		Base: d.base, Tool: call.ToolName, Env: from.Environ(), Payload: d.asked, Policy: d.view.Snap.Versions, Outcome: out, Err: err}
}

// auditLimit is how long a decision waits for its record.
const auditLimit = 2 * time.Second

// decideAudited decides, and where the settings want every decision to be written
// down, decides again if that fails: then what can be blocked is.
func (d *dispatch) decideAudited(ctx context.Context) func(limit, blocked int) *hook.Outcome {
	if !d.view.Snap.Policy.Audited || len(d.slots) == 0 || hook.Info(d.in.Event()).Block != hook.BlockAction {
		return d.decide
	}
	return func(limit, blocked int) *hook.Outcome {
		out := d.decide(limit, blocked)
		out.Run = d.run
		err := d.recordNow(ctx, out)
		if d.recorded = err == nil; d.recorded {
			return out
		}
		d.unkept = &hook.Result{Hook: &hook.Hook{ID: "tenterhook/audit", Name: "audit", Event: d.in.Event(), Scope: hook.ScopeManaged, OnFailure: hook.FailureBlock},
			Status: hook.StatusFailed, Failure: hook.FailureTransport, Err: err, Reason: "the record of this decision cannot be written, and the settings say audit.on_failure = \"block\": " + err.Error(),
			Hint: "see 'tenterhook doctor': make the state directory writable, or free space"}
		return d.decide(limit, blocked)
	}
}

// recordNow writes down what was decided.
func (d *dispatch) recordNow(ctx context.Context, out *hook.Outcome) error {
	to, ok := d.r.opts.Recorder.(hook.DurableRecorder)
	if !ok {
		return errors.New("nothing records here")
	}
	ctx, cancel := context.WithTimeout(ctx, auditLimit)
	defer cancel()
	failed := errors.New("Options.Recorder panicked") // unless it returns
	record := d.recordOf(selection.CallerOf(ctx), out, nil)
	if err := d.r.Host.call(d.r.Done, &d.r.Host.recorder, "Options.Recorder", func() { failed = to.RecordNow(ctx, record) }); err != nil {
		return err // failed may still be written
	}
	return failed
}

// recordBackground gives the result of a background hook to the recorder.
func (r *Dispatcher) recordBackground(c *hook.Call, result *hook.Result) {
	if c.Run == "" {
		return
	}
	call, _ := hook.ToolCallOf(c.Input)
	r.keep(hook.Record{Run: c.Run, Time: time.Now().Add(-result.Elapsed), Elapsed: result.Elapsed, Workspace: r.opts.Workspace,
		Event: c.Input.Event(), Base: r.hooks.FillBase(c.Input.Common()), Tool: call.ToolName, Env: c.Env, Background: result})
}

// NewRun names a dispatch, or what else a [hook.Recorder] gets: names sort by time, to the second, and two of the same
// second differ in 48 random bits.
func NewRun(at time.Time) string {
	var b [10]byte
	binary.BigEndian.PutUint32(b[:], uint32(at.Unix()))
	_, _ = rand.Read(b[4:]) // never fails
	return strings.ToLower(runNames.EncodeToString(b[:]))
}

var runNames = base32.HexEncoding.WithPadding(base32.NoPadding)
