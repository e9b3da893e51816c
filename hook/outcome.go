package hook

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Outcome is what all hooks of an event decided together. A denial is an
// Outcome, not an error.
type Outcome struct {
	Event   Event   `json:"event"`
	Run     string  `json:"run,omitempty"` // names the dispatch for the recorder; "" = nothing records it
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"` // of the first hook, in order, with the winning verdict

	Stop       bool   `json:"stop"` // the agent stops, whatever the verdict
	StopReason string `json:"stop_reason,omitempty"`

	UpdatedInput      json.RawMessage `json:"updated_input"` // the tool input to use instead; nil = as it was
	UpdatedToolOutput json.RawMessage `json:"updated_tool_output,omitempty"`
	Contexts          []string        `json:"context"`         // for the model, in order
	SystemMessages    []string        `json:"system_messages"` // for the person, in order
	SuppressOutput    bool            `json:"suppress_output,omitempty"`

	Permission             *PermissionAnswer  `json:"permission,omitempty"`
	Elicitation            *ElicitationAnswer `json:"elicitation,omitempty"`
	InitialUserMessages    []string           `json:"initial_user_messages,omitempty"`
	SessionTitle           string             `json:"session_title,omitempty"`
	WatchPaths             []string           `json:"watch_paths,omitempty"`
	SuppressOriginalPrompt bool               `json:"suppress_original_prompt,omitempty"`
	DisplayContent         *string            `json:"display_content,omitempty"`
	Retry                  bool               `json:"retry,omitempty"`
	WorktreePath           string             `json:"worktree_path,omitempty"`
	Texts                  []string           `json:"texts,omitempty"`
	TerminalSequences      []string           `json:"terminal_sequences,omitempty"`
	Env                    map[string]string  `json:"env,omitempty"`

	Results     []Result     `json:"results"` // one for each hook that the event concerned, in order
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// MayProceed reports whether the action that the event announces may continue
// without asking anyone: no verdict stricter than Allow, and no hook stopped the
// agent. Ask and Defer are not permission: a person, or the host's caller, has to
// decide first. On Stop, SubagentStop and TeammateIdle the action is the stop
// itself. A nil Outcome, as Dispatch returns it with an error, may not proceed.
func (o *Outcome) MayProceed() bool {
	if o == nil || o.Verdict > Allow {
		return false
	}
	return !o.Stop || Info(o.Event).Block == BlockStop
}

// Failures returns the results of the hooks that should have done their work and
// did not, in order: they failed, or could not be started. Whether such a failure
// blocks is the hook's policy, and is part of Verdict already.
func (o *Outcome) Failures() []*Result {
	var failed []*Result
	for i := range o.Results {
		if o.Results[i].failed() {
			failed = append(failed, &o.Results[i])
		}
	}
	return failed
}

// Merge makes one outcome of the results of an event's hooks, given in
// configuration order. It is pure. The verdict does not depend on the order:
// deny > defer > ask > allow > none, and continue:false beats them all. Of
// several rewrites the one from [LastRewrite] wins, and a denial leaves
// nothing to rewrite. Contexts and messages are all kept. [Decide] adds what the
// results alone cannot tell.
func Merge(ev Event, results []Result) *Outcome {
	o := &Outcome{Event: ev, Results: results}
	for i := range results {
		r := &results[i]
		if v := r.Verdict(); v > o.Verdict {
			o.Verdict, o.Reason = v, r.verdictReason()
		}
		o.addResult(r)
		o.Diagnostics = append(o.Diagnostics, r.Report.Warnings...)
	}
	if i := LastRewrite(ev, results); i >= 0 {
		out := results[i].Output
		if Info(ev).takesOutput() {
			o.UpdatedToolOutput = out.UpdatedToolOutput
		} else {
			o.UpdatedInput = out.UpdatedInput
		}
	}
	if o.Stop && o.Verdict != Deny && Info(ev).Block == BlockAction {
		o.Verdict, o.Reason = Deny, cmp.Or(o.StopReason, "a hook stopped the agent")
	}
	if Info(ev).Block == BlockStop {
		o.settleStop()
	}
	o.settleGrants()
	return o
}

// settleStop decides whether an agent that wants to stop works on: not after
// continue:false, and else if a hook blocks or has something for the model.
func (o *Outcome) settleStop() {
	switch {
	case o.Stop:
		o.Verdict, o.Reason = NoOpinion, ""
	case o.Verdict < Deny && len(o.Contexts) > 0:
		o.Verdict, o.Reason = Deny, o.Contexts[0]
	}
}

// settleGrants removes what hooks grant beside a verdict, if the verdict is
// not the one they belong to.
func (o *Outcome) settleGrants() {
	if o.Verdict == Deny {
		o.UpdatedInput = nil
	}
	if o.Elicitation != nil && o.Elicitation.Action == elicitationAccept && o.Verdict > Allow {
		o.Elicitation = nil
	}
	if o.Permission == nil {
		return
	}
	own := *o.Permission
	if o.Verdict != Allow {
		own.UpdatedPermissions = nil
	}
	own.Interrupt = own.Interrupt && o.Verdict == Deny
	o.Permission = &own
	if own.UpdatedPermissions == nil && !own.Interrupt {
		o.Permission = nil
	}
}

// addResult takes what a hook's answers say beside the verdict. Of an earlier
// answer, to an input that was rewritten since, only the refusal counts.
func (o *Outcome) addResult(r *Result) {
	if r.Status == StatusAsync {
		return
	}
	if r.Output != nil {
		o.add(r.Output)
		if r.approves() {
			o.grant(r.Output)
		}
	}
	for ; r != nil; r = r.Earlier {
		if r.Output != nil {
			o.refuse(r.Output)
		}
	}
}

// refuse takes what only makes an outcome stricter.
func (o *Outcome) refuse(out *Output) {
	if out.Stop && !o.Stop {
		o.Stop, o.StopReason = true, out.StopReason
	}
	if out.Permission != nil && out.Permission.Interrupt {
		o.Permission = mergePermission(o.Permission, &PermissionAnswer{Interrupt: true})
	}
}

// grant takes what counts only for the input that the hook judged.
func (o *Outcome) grant(out *Output) {
	o.Retry = o.Retry || out.Retry
	o.WorktreePath = cmp.Or(o.WorktreePath, out.WorktreePath)
	o.Permission = mergePermission(o.Permission, out.Permission)
	if e := out.Elicitation; e != nil && (o.Elicitation == nil || elicitationRank(e) > elicitationRank(o.Elicitation)) {
		o.Elicitation = e
	}
}

// add takes what does not depend on the verdict.
func (o *Outcome) add(out *Output) {
	o.Contexts = appendText(o.Contexts, out.Context)
	o.SystemMessages = appendText(o.SystemMessages, out.SystemMessage)
	o.InitialUserMessages = appendText(o.InitialUserMessages, out.InitialUserMessage)
	o.TerminalSequences = appendText(o.TerminalSequences, out.TerminalSequence)
	o.Texts = appendText(o.Texts, out.Text)
	for _, p := range out.WatchPaths {
		if !slices.Contains(o.WatchPaths, p) {
			o.WatchPaths = append(o.WatchPaths, p)
		}
	}
	for k, v := range out.Env {
		if o.Env == nil {
			o.Env = make(map[string]string)
		}
		o.Env[k] = v
	}
	o.SuppressOutput = o.SuppressOutput || out.SuppressOutput
	o.SuppressOriginalPrompt = o.SuppressOriginalPrompt || out.SuppressOriginalPrompt
	o.SessionTitle = cmp.Or(out.SessionTitle, o.SessionTitle)
	o.DisplayContent = cmp.Or(out.DisplayContent, o.DisplayContent)
}

// mergePermission joins answers: the first grants count, and any interruption.
func mergePermission(a, b *PermissionAnswer) *PermissionAnswer {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	merged := *a
	merged.Interrupt = a.Interrupt || b.Interrupt
	if merged.UpdatedPermissions == nil {
		merged.UpdatedPermissions = b.UpdatedPermissions
	}
	return &merged
}

const elicitationAccept = "accept"

// elicitationRank orders answers by strictness: a refusal beats an acceptance,
// and so does a word that is unknown.
func elicitationRank(e *ElicitationAnswer) int {
	ranks := []string{elicitationAccept, "cancel", "decline"}
	if i := slices.Index(ranks, e.Action); i >= 0 {
		return i
	}
	return len(ranks)
}

func appendText(list []string, s string) []string {
	if s == "" {
		return list
	}
	return append(list, s)
}
