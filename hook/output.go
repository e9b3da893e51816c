package hook

import (
	"context"
	"encoding/json"
	"time"
)

// Output is what one hook answered, in any dialect. The zero Output has no
// opinion and adds nothing.
type Output struct {
	Verdict Verdict
	Reason  string // for the verdict

	Stop       bool // continue:false: the agent stops, whatever the verdicts
	StopReason string

	Context          string // for the model
	SystemMessage    string // for the person
	SuppressOutput   bool
	TerminalSequence string // filtered: it can only notify or name the window

	UpdatedInput      json.RawMessage // replaces the whole tool input
	UpdatedToolOutput json.RawMessage // replaces the tool's response

	Permission  *PermissionAnswer
	Elicitation *ElicitationAnswer

	InitialUserMessage     string
	SessionTitle           string
	WatchPaths             []string
	SuppressOriginalPrompt bool
	DisplayContent         *string
	Retry                  bool
	WorktreePath           string
	Text                   string            // the result text of StatusLine and FileSuggestion
	Env                    map[string]string // variables for the session's later commands
	Impossible             bool              // a model said that the condition can never hold

	Handoff *Handoff
}

// PermissionAnswer is what beside the verdict a PermissionRequest hook answers.
type PermissionAnswer struct {
	UpdatedPermissions json.RawMessage `json:"updated_permissions,omitempty"`
	Interrupt          bool            `json:"interrupt,omitempty"`
}

// ElicitationAnswer answers an MCP server in a person's place.
type ElicitationAnswer struct {
	Action  string          `json:"action"` // accept, decline, cancel
	Content json.RawMessage `json:"content,omitempty"`
}

// Handoff says that a hook continues in the background and answers later.
type Handoff struct {
	Timeout time.Duration // 0 = the default
	// Wait returns the later answer, or ends the hook when ctx ends; nil where
	// there is nothing to wait for. It is called once.
	Wait func(ctx context.Context) (*Output, error)
}

// Denied is an Output that denies, for a reason.
func Denied(reason string) *Output { return &Output{Verdict: Deny, Reason: reason} }

// Allowed is an Output that allows.
func Allowed(reason string) *Output { return &Output{Verdict: Allow, Reason: reason} }

// Asked is an Output that leaves the decision to a person.
func Asked(reason string) *Output { return &Output{Verdict: Ask, Reason: reason} }

// WithContext is an Output that tells the model something.
func WithContext(text string) *Output { return &Output{Context: text} }
