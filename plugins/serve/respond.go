package serve

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// answer is an Output as a command prints it, in the words of the public hooks
// reference of Claude Code.
type answer struct {
	Continue         *bool     `json:"continue,omitempty"`
	StopReason       string    `json:"stopReason,omitempty"`
	SuppressOutput   bool      `json:"suppressOutput,omitempty"`
	SystemMessage    string    `json:"systemMessage,omitempty"`
	TerminalSequence string    `json:"terminalSequence,omitempty"`
	Decision         string    `json:"decision,omitempty"`
	Reason           string    `json:"reason,omitempty"`
	Specific         *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event              hook.Event      `json:"hookEventName"`
	Permission         string          `json:"permissionDecision,omitempty"`
	PermissionReason   string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
	Context            string          `json:"additionalContext,omitempty"`
	UpdatedToolOutput  json.RawMessage `json:"updatedToolOutput,omitempty"`
	Retry              bool            `json:"retry,omitempty"`
	InitialUserMessage string          `json:"initialUserMessage,omitempty"`
	SessionTitle       string          `json:"sessionTitle,omitempty"`
	WatchPaths         []string        `json:"watchPaths,omitempty"`
	SuppressPrompt     bool            `json:"suppressOriginalPrompt,omitempty"`
	DisplayContent     *string         `json:"displayContent,omitempty"`
	Action             string          `json:"action,omitempty"`
	Content            json.RawMessage `json:"content,omitempty"`
	WorktreePath       string          `json:"worktreePath,omitempty"`
	Request            *request        `json:"decision,omitempty"`
}

type request struct {
	Behavior           string          `json:"behavior"`
	Message            string          `json:"message,omitempty"`
	UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
	UpdatedPermissions json.RawMessage `json:"updatedPermissions,omitempty"`
	Interrupt          bool            `json:"interrupt,omitempty"`
}

// respond writes an Output as the answer to an event. What has no effect there
// is sent all the same: the host says so, in the words that command hooks get.
// An error is an Output that cannot be sent at all.
func respond(ev hook.Event, out *hook.Output) (*proto.HandleResponse, error) {
	if out == nil {
		return &proto.HandleResponse{}, nil
	}
	info := hook.Info(ev)
	if err := untold(info, out); err != nil {
		return nil, err
	}
	if info.Plain == hook.PlainResult {
		return &proto.HandleResponse{Stdout: []byte(out.Text)}, nil
	}
	r := &proto.HandleResponse{}
	a := answer{SuppressOutput: out.SuppressOutput, SystemMessage: out.SystemMessage, TerminalSequence: out.TerminalSequence}
	if out.Stop {
		goesOn := false
		a.Continue, a.StopReason = &goesOn, out.StopReason
	}
	s := specific{
		Context: out.Context, UpdatedToolOutput: out.UpdatedToolOutput, Retry: out.Retry,
		InitialUserMessage: out.InitialUserMessage, SessionTitle: out.SessionTitle, WatchPaths: out.WatchPaths,
		SuppressPrompt: out.SuppressOriginalPrompt, DisplayContent: out.DisplayContent, WorktreePath: out.WorktreePath,
	}
	if !info.Fields.Has(hook.FieldRequest) {
		s.UpdatedInput = out.UpdatedInput
	}
	if err := decide(info, out, r, &a, &s); err != nil {
		return nil, err
	}
	raw, err := marshal(s)
	if err != nil {
		return nil, err
	}
	if len(raw) > len(`{"hookEventName":""}`) { // it says something
		s.Event = ev
		a.Specific = &s
	}
	if raw, err = marshal(a); err != nil {
		return nil, err
	}
	if len(raw) > len(`{}`) {
		r.Stdout = raw
	}
	return r, nil
}

// marshal writes v without the escapes that JSON in HTML would need.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("its answer is not JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// untold says what of an Output has no words in the protocol.
func untold(info *hook.EventInfo, out *hook.Output) error {
	switch {
	case out.Handoff != nil:
		return fmt.Errorf("a plugin's hook cannot hand itself off: declare it async")
	case len(out.Env) > 0:
		return fmt.Errorf("a plugin's hook cannot set variables for later commands: use a command hook")
	case out.Text != "" && info.Plain != hook.PlainResult:
		return fmt.Errorf("text has no effect on %s: use Context or SystemMessage", info.Event)
	}
	return nil
}

// decide writes the verdict where the event looks for it. Where JSON has no word
// for a denial, it is the exit code that blocks.
func decide(info *hook.EventInfo, out *hook.Output, r *proto.HandleResponse, a *answer, s *specific) error {
	verdict, fields := out.Verdict, info.Fields
	switch {
	case fields.Has(hook.FieldRequest):
		return decideRequest(info, out, s)
	case fields.Has(hook.FieldElicitation):
		return decideElicitation(info, out, a, s)
	case verdict == hook.NoOpinion:
	case fields.Has(hook.FieldPermission):
		s.Permission, s.PermissionReason = verdict.String(), out.Reason
	case verdict == hook.Deny && info.BlockField:
		a.Decision, a.Reason = "block", out.Reason
	case verdict == hook.Deny:
		r.ExitCode, r.Stderr = exitBlock, out.Reason
	case verdict == hook.Ask || verdict == hook.Defer:
		return fmt.Errorf("%s has no meaning on %s: deny, or have no opinion", verdict, info.Event)
	}
	return nil
}

func decideRequest(info *hook.EventInfo, out *hook.Output, s *specific) error {
	var req request
	switch out.Verdict {
	case hook.NoOpinion:
		if out.UpdatedInput != nil || out.Permission != nil {
			return fmt.Errorf("what it changes counts only with a verdict on %s: allow or deny", info.Event)
		}
		return nil
	case hook.Allow:
		req = request{Behavior: "allow", Message: out.Reason, UpdatedInput: out.UpdatedInput}
	case hook.Deny:
		req = request{Behavior: "deny", Message: out.Reason}
	default:
		return fmt.Errorf("%s has no meaning on %s: allow, deny, or have no opinion", out.Verdict, info.Event)
	}
	if out.Permission != nil {
		req.UpdatedPermissions, req.Interrupt = out.Permission.UpdatedPermissions, out.Permission.Interrupt
	}
	s.Request = &req
	return nil
}

func decideElicitation(info *hook.EventInfo, out *hook.Output, a *answer, s *specific) error {
	if out.Elicitation != nil {
		s.Action, s.Content, a.Reason = out.Elicitation.Action, out.Elicitation.Content, out.Reason
		if out.Verdict == hook.Deny && s.Action == "accept" {
			return fmt.Errorf("it denies and accepts at once: want decline or cancel")
		}
		return nil
	}
	switch out.Verdict {
	case hook.NoOpinion:
	case hook.Allow:
		s.Action, a.Reason = "accept", out.Reason
	case hook.Deny:
		s.Action, a.Reason = "decline", out.Reason
	default:
		return fmt.Errorf("%s has no meaning on %s: allow, deny, or have no opinion", out.Verdict, info.Event)
	}
	return nil
}
