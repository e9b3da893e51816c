package hook

import (
	"encoding/json"
	"fmt"
)

// Facts are what a decision needs to know beside the results of hooks. The zero
// value adds nothing.
type Facts struct {
	// Unjudged is why no hook could judge the final input, or why there is no
	// final input; nil = it was judged.
	Unjudged error
	// Withheld is why the tool's output must not be shown, however hooks replaced
	// it; nil = it may. A text that says so takes its place.
	Withheld error
	// Schema is how the rewritten input violates the tool's schema; nil = it
	// does not, or there is no schema.
	Schema error
	// StopLimit is how many blocks in a row may keep an agent from stopping, 0 =
	// any number; StopsBlocked is how many there were already.
	StopLimit, StopsBlocked int
	// Notes are put behind the warnings of the hooks.
	Notes []Diagnostic
}

// Decide makes the outcome of an event: the results of its hooks merged, and
// held against what a hook cannot know. It is pure, and nothing changes its
// verdict afterwards. The results are given in configuration order, for the
// input as the host gave it or as hooks rewrote it.
func Decide(in Input, results []Result, f Facts) *Outcome {
	o := Merge(in.Event(), results)
	o.Diagnostics = append(o.Diagnostics, f.Notes...)
	info := Info(o.Event)
	switch {
	case f.Unjudged != nil && len(results) > 0 && info.Block == BlockAction:
		o.deny("no hook can judge the event: " + f.Unjudged.Error())
	case f.Schema != nil && o.UpdatedInput != nil:
		call, _ := ToolCallOf(in)
		o.deny(fmt.Sprintf("the rewritten input of %s does not satisfy its schema: %v", call.ToolName, f.Schema))
	}
	if f.Withheld != nil && info.takesOutput() {
		o.UpdatedToolOutput, _ = json.Marshal("The output is withheld: " + f.Withheld.Error()) // a text can always be written
		o.Diagnostics = append(o.Diagnostics, Diagnostic{Severity: SeverityWarning, Code: "output_withheld", Message: f.Withheld.Error()})
	}
	if o.Verdict == Deny && !info.CanBlock(in) {
		o.override("cannot_block", fmt.Sprintf("a hook blocks this %s, which cannot be blocked", o.Event), "")
	}
	if o.Verdict == Deny && info.Block == BlockStop && f.StopLimit > 0 && f.StopsBlocked >= f.StopLimit {
		o.override("stop_overridden",
			fmt.Sprintf("hooks kept the agent working %d times in a row; it stops now, against: %s", f.StopLimit, o.Reason),
			"a stop hook should give up when stop_hook_active is true and nothing changed")
	}
	return o
}

func (o *Outcome) deny(reason string) {
	o.Verdict, o.Reason = Deny, reason
	o.settleGrants()
}

// override lifts a denial that does not count, and says so.
func (o *Outcome) override(code, message, hint string) {
	o.Verdict, o.Reason = NoOpinion, ""
	o.settleGrants()
	o.Diagnostics = append(o.Diagnostics, Diagnostic{Severity: SeverityWarning, Code: code, Message: message, Hint: hint})
}

// takesInput and takesOutput report whether hooks can rewrite the tool's input,
// or its output.
func (e *EventInfo) takesInput() bool {
	return e.Fields.Has(FieldUpdatedInput) || e.Fields.Has(FieldRequest)
}
func (e *EventInfo) takesOutput() bool { return e.Fields.Has(FieldToolOutput) }

// Rewrite returns what the hook replaces the tool's input with, or on an event
// after the tool its output. It is nil if the hook replaces nothing, and if its
// answer does not count.
func (r *Result) Rewrite(ev Event) json.RawMessage {
	if r.Output == nil || !r.approves() {
		return nil
	}
	switch info := Info(ev); {
	case info.takesOutput(): // of a hook that blocks too: a secret is removed, and reported
		return r.Output.UpdatedToolOutput
	case info.takesInput() && r.Status == StatusSuccess:
		return r.Output.UpdatedInput
	}
	return nil
}

// LastRewrite returns the index of the result whose rewrite counts, -1 if there
// is none. Results are given in configuration order. A later turn wins; of hooks
// that ran side by side an undeclared rewriter wins over a declared one, and then
// the last in order.
func LastRewrite(ev Event, results []Result) int {
	last := -1
	for i := range results {
		r := &results[i]
		if r.Rewrite(ev) == nil {
			continue
		}
		if last >= 0 {
			best := &results[last]
			if r.Turn < best.Turn || r.Turn == best.Turn && r.Hook.Rewrites && !best.Hook.Rewrites {
				continue
			}
		}
		last = i
	}
	return last
}
