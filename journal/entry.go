package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// The bounds of what is kept of one dispatch, in bytes. A longer text is cut and
// ends with "…"; a longer payload is left out, and the run cannot be replayed.
const (
	maxPayload = 256 << 10
	maxOutput  = 16 << 10
	maxText    = 4 << 10
	maxResults = 1000
)

// Entry is one dispatch, or one background hook, as it is kept.
type Entry struct {
	Run       string          `json:"run"`
	Time      time.Time       `json:"time"`
	Agent     string          `json:"agent,omitempty"`
	Session   string          `json:"session,omitempty"`
	Workspace string          `json:"workspace,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	Event     hook.Event      `json:"event"`
	Tool      string          `json:"tool,omitempty"`
	Trace     string          `json:"trace,omitempty"`  // traceparent of the agent's span, as W3C Trace Context has it
	Policy    hook.Versions   `json:"policy,omitempty"` // of the fleet's documents that were in force
	Verdict   hook.Verdict    `json:"verdict"`
	Reason    string          `json:"reason,omitempty"`
	Error     string          `json:"error,omitempty"` // why nothing was decided
	ElapsedMS float64         `json:"elapsed_ms"`
	Payload   json.RawMessage `json:"payload,omitempty"` // record = "full" only
	Omitted   string          `json:"omitted,omitempty"` // why there is no payload
	Results   []Result        `json:"results"`
}

// Result is one hook of an Entry.
type Result struct {
	Hook       string       `json:"hook"`
	Kind       hook.Kind    `json:"kind,omitempty"`
	Source     string       `json:"source,omitempty"` // file:line of the definition
	Background bool         `json:"background,omitempty"`
	Status     hook.Status  `json:"status"`
	Verdict    hook.Verdict `json:"verdict"`
	Failure    hook.Failure `json:"failure"`
	Reason     string       `json:"reason"`
	Hint       string       `json:"hint,omitempty"`
	ExitCode   *int         `json:"exit_code"`
	ElapsedMS  float64      `json:"elapsed_ms"`
	Stderr     string       `json:"stderr"`
	// Turn orders the hooks of a dispatch, from 1: those of one turn ran side by
	// side. 0 = the hook did not run.
	Turn int `json:"turn,omitempty"`
	// Output is what the hook said beside its verdict and reason, as an object; a
	// text says why it was left out. record = "full" only.
	Output json.RawMessage `json:"output,omitempty"`
}

// output is what is kept of what a hook said. Variables for later commands are not:
// they may be secrets.
type output struct {
	Stop               bool            `json:"stop,omitempty"`
	StopReason         string          `json:"stop_reason,omitempty"`
	Context            string          `json:"context,omitempty"`
	SystemMessage      string          `json:"system_message,omitempty"`
	UpdatedInput       json.RawMessage `json:"updated_input,omitempty"`
	UpdatedToolOutput  json.RawMessage `json:"updated_tool_output,omitempty"`
	InitialUserMessage string          `json:"initial_user_message,omitempty"`
	SessionTitle       string          `json:"session_title,omitempty"`
	Text               string          `json:"text,omitempty"`
	WorktreePath       string          `json:"worktree_path,omitempty"`
}

// entryOf makes the entry of a record. mask takes secrets out of a text.
func entryOf(r hook.Record, full bool, mask func(string) string) Entry {
	text := func(s string) string { return phrase.Bytes(mask(s), maxText) }
	e := Entry{Run: r.Run, Time: r.Time.UTC(), Session: text(r.Base.SessionID), Workspace: text(r.Workspace), Cwd: text(r.Base.Cwd),
		Agent: text(r.Base.Agent), Event: hook.Event(text(string(r.Event))), Tool: text(r.Tool), Trace: traceOf(&r), Policy: r.Policy, ElapsedMS: milliseconds(r.Elapsed)}
	if r.Err != nil {
		e.Error = text(r.Err.Error())
	}
	var results []hook.Result
	switch {
	case r.Background != nil:
		results = []hook.Result{*r.Background}
	case r.Outcome != nil:
		e.Verdict, e.Reason, results = r.Outcome.Verdict, text(r.Outcome.Reason), r.Outcome.Results
	}
	for i := range results[:min(len(results), maxResults)] {
		e.Results = append(e.Results, resultOf(&results[i], r.Background != nil, text))
		if full {
			e.Results[i].Output = outputOf(results[i].Output, mask)
		}
	}
	if full && r.Background == nil {
		e.Payload, e.Omitted = payloadOf(r.Payload, mask, maxPayload)
	}
	return e
}

// traceOf returns the traceparent that the agent gave with an event, in its payload
// or in its environment; "" = none that is valid.
func traceOf(r *hook.Record) string {
	var given struct{ Traceparent string }
	if bytes.Contains(r.Payload, []byte(`"traceparent"`)) && json.Unmarshal(r.Payload, &given) == nil && validTrace(given.Traceparent) {
		return given.Traceparent
	}
	env := r.Env
	if env == nil { // that of the host
		env = []string{"TRACEPARENT=" + os.Getenv("TRACEPARENT")}
	}
	for _, pair := range env {
		if trace, ok := strings.CutPrefix(pair, "TRACEPARENT="); ok && validTrace(trace) {
			return trace
		}
	}
	return ""
}

// validTrace reports whether a text is a traceparent of version 00.
func validTrace(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 4 || parts[0] != "00" || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 {
		return false
	}
	return strings.Trim(strings.Join(parts, ""), "0123456789abcdef") == "" && strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}

func resultOf(r *hook.Result, background bool, text func(string) string) Result {
	made := Result{Background: background, Turn: r.Turn, Status: r.Status, Verdict: r.Verdict(), Failure: r.Failure, Reason: text(r.Reason), Hint: text(r.Hint),
		ExitCode: r.Report.ExitCode, ElapsedMS: milliseconds(r.Elapsed), Stderr: text(whole(r.Report.Stderr))}
	if h := r.Hook; h != nil {
		made.Hook, made.Kind = h.ID, h.Kind
		if h.Source.Path != "" {
			made.Source = fmt.Sprintf("%s:%d", h.Source.Path, h.Source.Line)
		}
	}
	return made
}

// outputOf returns what a hook said as it is kept; nil = nothing beside its verdict.
func outputOf(o *hook.Output, mask func(string) string) json.RawMessage {
	if o == nil {
		return nil
	}
	text, err := json.Marshal(output{o.Stop, o.StopReason, o.Context, o.SystemMessage, o.UpdatedInput, o.UpdatedToolOutput, o.InitialUserMessage, o.SessionTitle, o.Text, o.WorktreePath})
	if err == nil && string(text) == "{}" {
		return nil
	}
	kept, omitted := payloadOf(text, mask, maxOutput)
	if kept == nil {
		kept, _ = json.Marshal(strings.Replace(omitted, "the event", "it", 1)) // a text always encodes
	}
	return kept
}

// payloadOf returns the event as it is kept. Masking a text may not break the
// JSON around it: then the payload is left out.
func payloadOf(payload []byte, mask func(string) string, limit int) (kept json.RawMessage, omitted string) {
	if len(payload) == 0 {
		return nil, "the event cannot be encoded"
	}
	if len(payload) > limit {
		return nil, fmt.Sprintf("the event is larger than %d KiB", limit>>10)
	}
	masked := []byte(mask(maskJSON(string(payload), mask)))
	var compact bytes.Buffer
	if err := json.Compact(&compact, masked); err != nil {
		return nil, "the event holds a secret that cannot be masked"
	}
	return compact.Bytes(), ""
}

// whole leaves out the first word of a text whose beginning was cut off: it may be
// the end of a secret, which no pattern knows.
func whole(s string) string {
	rest, cut := strings.CutPrefix(s, "…")
	if !cut {
		return s
	}
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		return "…" + rest[i:]
	}
	return "…"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
