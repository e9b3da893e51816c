package hook

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Outcome is what all hooks of an event decided together. A denial is an
// Outcome, not an error.
type Outcome struct {
	Event   Event
	Verdict Verdict
	Reason  string // of the first hook, in order, with the winning verdict

	Stop       bool // the agent stops, whatever the verdict
	StopReason string

	UpdatedInput      json.RawMessage // the tool input to use instead; nil = as it was
	UpdatedToolOutput json.RawMessage
	Contexts          []string // for the model, in order
	SystemMessages    []string // for the person, in order
	SuppressOutput    bool

	Permission             *PermissionAnswer
	Elicitation            *ElicitationAnswer
	InitialUserMessages    []string
	SessionTitle           string
	WatchPaths             []string
	SuppressOriginalPrompt bool
	DisplayContent         *string
	Retry                  bool
	WorktreePath           string
	Texts                  []string
	TerminalSequences      []string
	Env                    map[string]string

	Results     []Result // one for each hook that the event concerned, in order
	Diagnostics []Diagnostic
}

// Denied reports whether the action must not go on.
func (o *Outcome) Denied() bool { return o.Verdict == Deny }

// Merge makes one outcome of the results of an event's hooks, given in
// configuration order. It is pure. The verdict does not depend on the order:
// deny > defer > ask > allow > none, and continue:false beats them all. Of
// several rewrites the last one wins, those of declared rewriters first, and a
// denial leaves nothing to rewrite. Contexts and messages are all kept.
func Merge(ev Event, results []Result) *Outcome {
	o := &Outcome{Event: ev, Results: results}
	for i := range results {
		r := &results[i]
		if v := r.Verdict(); v > o.Verdict {
			o.Verdict, o.Reason = v, r.verdictReason()
		}
		if r.Output != nil && r.Status != StatusAsync {
			o.add(r.Output)
		}
		o.Diagnostics = append(o.Diagnostics, r.Report.Warnings...)
	}
	o.mergeRewrites(results)
	if o.Stop && o.Verdict != Deny && Info(ev).Block == BlockAction {
		o.Verdict, o.Reason = Deny, cmp.Or(o.StopReason, "a hook stopped the agent")
	}
	if Info(ev).Block == BlockStop {
		o.settleStop()
	}
	if o.Verdict == Deny {
		o.UpdatedInput = nil
	}
	return o
}

// settleStop decides whether an agent that wants to stop works on: not after
// continue:false, and else if somebody blocks or has something to tell it.
func (o *Outcome) settleStop() {
	switch {
	case o.Stop:
		o.Verdict, o.Reason = NoOpinion, ""
	case o.Verdict < Deny && len(o.Contexts) > 0:
		o.Verdict, o.Reason = Deny, o.Contexts[0]
	}
}

// add takes what does not depend on the verdict.
func (o *Outcome) add(out *Output) {
	if out.Stop && !o.Stop {
		o.Stop, o.StopReason = true, out.StopReason
	}
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
	o.Retry = o.Retry || out.Retry
	o.SessionTitle = cmp.Or(out.SessionTitle, o.SessionTitle)
	o.WorktreePath = cmp.Or(o.WorktreePath, out.WorktreePath)
	o.DisplayContent = cmp.Or(out.DisplayContent, o.DisplayContent)
	o.Permission = mergePermission(o.Permission, out.Permission)
	if e := out.Elicitation; e != nil && (o.Elicitation == nil || elicitationRank(e) > elicitationRank(o.Elicitation)) {
		o.Elicitation = e
	}
}

func (o *Outcome) mergeRewrites(results []Result) {
	for _, declared := range []bool{true, false} {
		for i := range results {
			r := &results[i]
			if r.Output == nil || !r.answered() || r.Hook.Rewrites != declared {
				continue
			}
			if r.Output.UpdatedInput != nil {
				o.UpdatedInput = r.Output.UpdatedInput
			}
			if r.Output.UpdatedToolOutput != nil {
				o.UpdatedToolOutput = r.Output.UpdatedToolOutput
			}
		}
	}
}

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

// elicitationRank orders answers by strictness: a refusal beats an acceptance.
func elicitationRank(e *ElicitationAnswer) int {
	return slices.Index([]string{"accept", "cancel", "decline"}, e.Action)
}

func appendText(list []string, s string) []string {
	if s == "" {
		return list
	}
	return append(list, s)
}

// MarshalJSON writes the outcome as `tenterhook run --json` prints it.
func (o *Outcome) MarshalJSON() ([]byte, error) {
	type result struct {
		Hook      string  `json:"hook"`
		Kind      Kind    `json:"kind,omitempty"`
		Status    Status  `json:"status"`
		Verdict   Verdict `json:"verdict"`
		Failure   Failure `json:"failure"`
		Reason    string  `json:"reason"`
		Hint      string  `json:"hint,omitempty"`
		ExitCode  *int    `json:"exit_code"`
		ElapsedMS float64 `json:"elapsed_ms"`
		Stderr    string  `json:"stderr"`
	}
	results := make([]result, len(o.Results))
	for i := range o.Results {
		r := &o.Results[i]
		results[i] = result{r.Hook.ID, r.Hook.Kind, r.Status, r.Verdict(), r.Failure, r.Reason, r.Hint,
			r.Report.ExitCode, float64(r.Elapsed.Microseconds()) / 1000, r.Report.Stderr}
	}
	return json.Marshal(struct {
		Event                  Event              `json:"event"`
		Verdict                Verdict            `json:"verdict"`
		Reason                 string             `json:"reason"`
		Stop                   bool               `json:"stop"`
		StopReason             string             `json:"stop_reason,omitempty"`
		UpdatedInput           json.RawMessage    `json:"updated_input"`
		UpdatedToolOutput      json.RawMessage    `json:"updated_tool_output,omitempty"`
		Context                []string           `json:"context"`
		SystemMessages         []string           `json:"system_messages"`
		SuppressOutput         bool               `json:"suppress_output,omitempty"`
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
		Results                []result           `json:"results"`
		Diagnostics            []Diagnostic       `json:"diagnostics"`
	}{
		o.Event, o.Verdict, o.Reason, o.Stop, o.StopReason, o.UpdatedInput, o.UpdatedToolOutput,
		orEmpty(o.Contexts), orEmpty(o.SystemMessages), o.SuppressOutput, o.Permission, o.Elicitation,
		o.InitialUserMessages, o.SessionTitle, o.WatchPaths, o.SuppressOriginalPrompt, o.DisplayContent,
		o.Retry, o.WorktreePath, o.Texts, o.TerminalSequences, o.Env, results, orEmpty(o.Diagnostics),
	})
}

// orEmpty makes a nil list [] in JSON, so that scripts need not tell null apart.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
