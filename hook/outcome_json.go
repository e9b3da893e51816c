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
	type plain Outcome
	all := plain(*o)
	all.Contexts, all.SystemMessages = orEmpty(o.Contexts), orEmpty(o.SystemMessages)
	return json.Marshal(struct {
		*plain
		Results     []result     `json:"results"`
		Diagnostics []Diagnostic `json:"diagnostics"`
	}{&all, results, orEmpty(o.Diagnostics)})
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
