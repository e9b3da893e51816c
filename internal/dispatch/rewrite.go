package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// Every hook that an input concerns judges it as it is in the end. After a
// rewrite hooks are selected again on the new input.

// adopt makes the rewrite of the hooks that ran last the input, and selects the
// hooks that it concerns. It reports whether the input has changed.
func (d *dispatch) adopt(ctx context.Context) bool {
	event := d.in.Event()
	var who []int // the slots that rewrote, in order
	for i := range d.slots {
		if s := &d.slots[i]; s.result.Turn == d.turn && s.result.Rewrite(event) != nil && !d.refuseSecond(s) {
			who = append(who, i)
		}
	}
	switch {
	case len(who) == 0:
		return false
	case hook.Info(event).Fields.Has(hook.FieldToolOutput):
		return d.adoptOutputs(ctx, who)
	}
	results := make([]hook.Result, len(who))
	for i, at := range who {
		d.slots[at].rewrote, d.slots[at].unused = true, true
		results[i] = d.slots[at].result
	}
	return d.adoptInput(&d.slots[who[hook.LastRewrite(event, results)]])
}

// refuseSecond refuses a rewrite of a hook that has rewritten the input before,
// so that rewriting ends.
func (d *dispatch) refuseSecond(s *slot) bool {
	if !s.rewrote {
		return false
	}
	if !sameJSON(s.result.Output.UpdatedInput, d.toolInput()) {
		s.unused = true
		d.note(hook.SeverityWarning, "second_rewrite", s.Hook,
			"it rewrote the input again after another hook's rewrite; the second rewrite is refused",
			"declare rewrites = true, so that rewrites run one after the other")
	}
	own := *s.result.Output
	own.UpdatedInput = nil
	s.result.Output = &own
	return true
}

func (d *dispatch) adoptInput(s *slot) bool {
	before := d.wire
	s.unused = false
	d.in, _ = hook.WithToolInput(d.in, s.result.Output.UpdatedInput)
	d.author = s.DeclaredEntry()
	if !d.encode() {
		return true
	}
	s.judged = d.wire // it made it
	if bytes.Equal(d.wire, before) {
		return false
	}
	d.selectAgain()
	return true
}

// selectAgain selects hooks on the input as it is now. Hooks that only an
// earlier version concerned keep their places: they can refuse, not approve.
func (d *dispatch) selectAgain() {
	at := make(map[*selection.Entry]int, len(d.slots))
	for i := range d.slots {
		at[d.slots[i].DeclaredEntry()] = i
	}
	asked := func(e *selection.Entry) bool {
		i, ok := at[e]
		return ok && d.slots[i].judged != nil
	}
	picked := d.r.hooks.Pick(d.view, d.in, asked)
	for i := range d.slots {
		d.slots[i].Concerned = false
	}
	for _, p := range picked {
		if !p.Concerned {
			continue
		}
		i, ok := at[p.DeclaredEntry()]
		if !ok {
			d.slots = append(d.slots, slot{Pick: p, result: skipped(&p, d.in.Event())})
			continue
		}
		s := &d.slots[i]
		s.Pick = p
		switch {
		case p.Run && s.judged == nil:
			s.result = hook.Result{}
		case !p.Run && s.judged == nil:
			s.result = skipped(&p, d.in.Event())
		case !p.Run && p.DeclaredEntry() != d.author:
			s.answer(skipped(&p, d.in.Event()))
		}
	}
	slices.SortStableFunc(d.slots, func(a, b slot) int { return selection.CompareEntries(a.Entry, b.Entry) })
}

// adoptOutputs makes the replaced output of a tool what later hooks see. Of
// several hooks that replaced it side by side, each but the first is asked again,
// about what the one before it left: no replacement is lost. If one of them fails
// then, what it would have removed is unknown, and the output is withheld.
func (d *dispatch) adoptOutputs(ctx context.Context, who []int) bool {
	changed := false
	for i, at := range who {
		s := &d.slots[at]
		if i > 0 {
			d.turn++
			d.runOne(ctx, s)
		}
		raw := s.result.Rewrite(d.in.Event())
		if raw == nil {
			if i > 0 && s.result.Status != hook.StatusSuccess && s.result.Status != hook.StatusBlocked {
				d.withheld = fmt.Errorf("hook %s replaces the output, and gave no answer about what other hooks made of it", s.Hook.ID)
			}
			continue
		}
		if !json.Valid(raw) {
			s.result.Status, s.result.Failure, s.result.Output = hook.StatusFailed, hook.FailureOutput, nil
			s.result.Reason = "the output that it replaces the tool's with is not JSON"
			if i > 0 {
				d.withheld = fmt.Errorf("hook %s replaces the output with what is not JSON", s.Hook.ID)
			}
			continue
		}
		d.in, _ = hook.WithToolResponse(d.in, raw)
		changed = d.encode() || changed
	}
	return changed
}

// stale reports whether a hook's answer is not about the final input: the hook
// judged another, or this one does not concern it. A rewriter's answer is about
// what it made of the input, and approves nothing else.
func (d *dispatch) stale(s *slot) bool {
	if s.judged == nil || s.DeclaredEntry() == d.author {
		return false
	}
	return s.unused || !s.Concerned || !bytes.Equal(s.judged, d.wire)
}

// refused reports whether the call is denied already, or the agent stopped. After
// a tool has run nothing is refused: its output may still be replaced.
func (d *dispatch) refused() bool {
	if hook.Info(d.in.Event()).Fields.Has(hook.FieldToolOutput) {
		return false
	}
	stops := hook.Info(d.in.Event()).Block == hook.BlockAction
	for i := range d.slots {
		if r := &d.slots[i].result; r.Verdict() == hook.Deny || stops && r.Output != nil && r.Output.Stop {
			return true
		}
	}
	return false
}

func (d *dispatch) toolInput() json.RawMessage {
	call, _ := hook.ToolCallOf(d.in)
	return call.ToolInput
}

// schemaError is how the rewritten input violates the schema of its tool.
func (d *dispatch) schemaError() error {
	if d.author == nil || d.unjudged != nil {
		return nil
	}
	call, _ := hook.ToolCallOf(d.in)
	pre, _ := hook.As[hook.PreToolUse](d.in)
	schema, err := pre.ToolSchema, error(nil)
	if schema == nil {
		schema, err = d.r.toolSchema(call.ToolName)
	}
	if schema == nil || err != nil {
		return err
	}
	return d.r.schemas.validate(schema, call.ToolInput)
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
