package hook

import "encoding/json"

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
		By        string  `json:"by,omitempty"`
		Stale     bool    `json:"stale,omitempty"`
		Earlier   Verdict `json:"earlier,omitzero"`
	}
	results := make([]result, len(o.Results))
	for i := range o.Results {
		r := &o.Results[i]
		results[i] = result{r.Hook.ID, r.Hook.Kind, r.Status, r.Verdict(), r.Failure, r.Reason, r.Hint,
			r.Report.ExitCode, float64(r.Elapsed.Microseconds()) / 1000, r.Report.Stderr, r.Report.By, r.Stale, r.earlierVerdict()}
	}
	return json.Marshal(struct {
		Event                  Event              `json:"event"`
		Run                    string             `json:"run,omitempty"`
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
		o.Event, o.Run, o.Verdict, o.Reason, o.Stop, o.StopReason, o.UpdatedInput, o.UpdatedToolOutput,
		orEmpty(o.Contexts), orEmpty(o.SystemMessages), o.SuppressOutput, o.Permission, o.Elicitation,
		o.InitialUserMessages, o.SessionTitle, o.WatchPaths, o.SuppressOriginalPrompt, o.DisplayContent,
		o.Retry, o.WorktreePath, o.Texts, o.TerminalSequences, o.Env, results, orEmpty(o.Diagnostics),
	})
}

// earlierVerdict is the stricter of what was answered before the input was
// rewritten.
func (r *Result) earlierVerdict() Verdict {
	if r.Earlier == nil {
		return NoOpinion
	}
	before := *r.Earlier
	before.Stale = true
	return before.Verdict()
}

// orEmpty makes a nil list [] in JSON, so that scripts need not tell null apart.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
