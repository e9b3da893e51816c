package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
)

// A rewrite is judged by everybody: no hook's approval counts for an input
// that it has not seen.

// rewriteOf returns what a hook that ran wants to change, nil = nothing.
func rewriteOf(ev hook.Event, r *hook.Result) json.RawMessage {
	if r.Output == nil || r.Status != hook.StatusSuccess {
		return nil
	}
	if hook.Info(ev).Fields.Has(hook.FieldToolOutput) {
		return r.Output.UpdatedToolOutput
	}
	return r.Output.UpdatedInput
}

// adopt makes a rewrite the input of those who come later, and reports whether
// there was one.
func (d *dispatch) adopt(s *slot) bool {
	raw := rewriteOf(d.in.Event(), &s.result)
	if raw == nil {
		return false
	}
	next, ok := hook.WithToolInput(d.in, raw)
	if !ok {
		next, ok = hook.WithToolResponse(d.in, raw)
	}
	d.in = next
	return ok
}

// settleRewrites adopts the last rewrite of those who ran side by side, and
// asks once more whoever judged anything but the final input. What has been
// denied stays denied, so then nobody is asked again.
func (d *dispatch) settleRewrites(ctx context.Context) {
	producer := d.lastRewriter()
	if producer == nil || d.verdict() == hook.Deny || ctx.Err() != nil {
		return
	}
	if d.adopt(producer); !d.encode() {
		return
	}
	if d.toolInput() == nil || hook.Info(d.in.Event()).Fields.Has(hook.FieldToolOutput) {
		return // an output that was replaced is not a call to approve
	}
	var again []*slot
	for i := range d.slots {
		s := &d.slots[i]
		if s != producer && s.judged != nil && !bytes.Equal(s.judged, d.wire) {
			again = append(again, s)
		}
	}
	d.askAgain(ctx, again)
}

// lastRewriter is the hook whose rewrite is final: of those who ran side by
// side the last in order, else of those who ran in sequence.
func (d *dispatch) lastRewriter() *slot {
	var last *slot
	for i := range d.slots {
		s := &d.slots[i]
		if rewriteOf(d.in.Event(), &s.result) == nil {
			continue
		}
		if last == nil || !s.hook.Rewrites || last.hook.Rewrites || d.r.opts.Serial {
			last = s
		}
	}
	return last
}

// askAgain runs hooks on the final input. The stricter of a hook's two answers
// counts, and another rewrite is refused.
func (d *dispatch) askAgain(ctx context.Context, again []*slot) {
	before := make([]hook.Result, len(again))
	for i, s := range again {
		before[i] = s.result
	}
	d.runTogether(ctx, again)
	for i, s := range again {
		first, r := before[i], &s.result
		if raw := rewriteOf(d.in.Event(), r); raw != nil && !sameJSON(raw, d.toolInput()) {
			d.note(hook.SeverityWarning, "second_rewrite", s.hook,
				"it rewrote the input again after another hook's rewrite; the second rewrite is refused",
				"declare rewrites = true, so that rewrites run one after the other")
		}
		r.Elapsed += first.Elapsed
		if r.Output != nil {
			out := *r.Output
			out.UpdatedInput = nil
			r.Output = &out
		}
		if first.Verdict() > r.Verdict() && (r.Status == hook.StatusSuccess || r.Status == hook.StatusBlocked) {
			out := *first.Output
			out.UpdatedInput = nil
			r.Output, r.Status, r.Reason = &out, first.Status, first.Reason
		}
	}
}

func (d *dispatch) verdict() hook.Verdict {
	v := hook.NoOpinion
	for i := range d.slots {
		v = max(v, d.slots[i].result.Verdict())
	}
	return v
}

func (d *dispatch) toolInput() json.RawMessage {
	call, _ := hook.ToolCallOf(d.in)
	return call.ToolInput
}

// checkSchema denies a call whose input was rewritten into one that its tool
// does not take.
func (d *dispatch) checkSchema(out *hook.Outcome) {
	if out.UpdatedInput == nil {
		return
	}
	call, _ := hook.ToolCallOf(d.in)
	pre, _ := hook.As[hook.PreToolUse](d.in)
	schema := pre.ToolSchema
	if schema == nil && d.r.opts.ToolSchema != nil {
		schema = d.r.opts.ToolSchema(call.ToolName)
	}
	if schema == nil {
		return
	}
	if err := d.r.schemas.validate(schema, out.UpdatedInput); err != nil {
		out.Verdict, out.UpdatedInput = hook.Deny, nil
		out.Reason = fmt.Sprintf("the rewritten input of %s does not satisfy its schema: %v", call.ToolName, err)
	}
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
