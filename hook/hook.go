package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Hook is one declared handler for one event. A definition that names several
// events becomes several Hooks with one ID. Hooks are immutable once loaded.
type Hook struct {
	ID          string // scope/name; breakers and reports go by it
	Name        string
	Description string
	Event       Event
	Matcher     string // "" matches every call
	Syntax      MatcherSyntax
	If          Rules // permission rules, any of which must match; none = every call
	Kind        Kind
	Scope       Scope
	Source      Source
	Protocol    Protocol // how its answers are read; "" = claude

	Timeout       time.Duration // 0 = the default of its kind and event
	OnFailure     FailurePolicy
	Priority      int // higher runs and merges first within its scope
	Rewrites      bool
	Async         bool   // runs in the background; its decision does not count
	AsyncRewake   bool   // as Async, and exit code 2 wakes the agent
	Queue         string // of the fleet's workers, one of which runs it in the background; "" = this machine does
	Once          bool   // leaves after its first success in a session
	StatusMessage string
	Env           map[string]string
	Requires      Requires
	Breaker       BreakerSettings
	Sandbox       *Sandbox // nil = that of its scope, see registry

	Command *Command // Kind command
	Params  Params   // what the other kinds declare, by key

	// State and Why are what loading found out: ready, or why it can never run.
	// Trust, eligibility and gates are judged later, by the registry.
	State State
	Why   string

	// Handler runs the hook. A loaded hook gets the one of its kind; an
	// in-process hook brings its own.
	Handler Handler
}

// ValidQueue reports whether a text can name a queue: it is a token of a subject, and
// a file's name on every system.
func ValidQueue(name string) bool {
	const first = "abcdefghijklmnopqrstuvwxyz0123456789"
	return name != "" && len(name) <= 63 && strings.Trim(name, first+"_-") == "" && strings.Contains(first, name[:1])
}

// Rules are permission rules as a file declares them. In JSON one rule is a
// string and several are a list; nil is "".
type Rules []string

// String joins the rules for a person.
func (r Rules) String() string { return strings.Join(r, " or ") }

// MarshalJSON writes one rule as a string, and several as a list.
func (r Rules) MarshalJSON() ([]byte, error) {
	if len(r) > 1 {
		return json.Marshal([]string(r))
	}
	return json.Marshal(strings.Join(r, ""))
}

// Concerns is the event whose outcome the hook has a say in: its own, or for a
// definition with a misspelt one the event that was most likely meant. A
// guard that never runs must not look like a guard that approves.
func (h *Hook) Concerns() Event {
	if _, known := Lookup(h.Event); known || h.State != StateInvalid {
		return h.Event
	}
	return cmp.Or(NearestEvent(string(h.Event)), h.Event)
}

// Command is what a command hook runs.
type Command struct {
	Line  string   // a shell command line, or with Args the program
	Args  []string // non-nil: exec form, no shell; may be empty
	Shell string   // "" = sh; "bash", "powershell" as in Claude's settings

	// Worker keeps the command running: it gets each event as a line on its
	// stdin, and answers with a line on its stdout.
	Worker bool
}

// Params are the keys of a definition that belong to its kind alone (url,
// headers, prompt, server, …), as they were declared.
type Params map[string]json.RawMessage

// Source says where a hook was declared.
type Source struct {
	Path string // the file; "" = registered from Go
	Line int    // from 1; 0 = unknown
	Dir  string // the folder that relative commands start from
	Root string // the scope's directory, or the plugin's root
	Data string // a plugin package's data directory
	// Pack is the reference of the pack that it comes with, as the settings name it;
	// "" = none.
	Pack string `json:",omitempty"`
	// PackBy is the scope of the settings that name the pack.
	PackBy Scope `json:"-"`
}

// Authority is the scope whose word the hook is: its own, or for a hook of a pack
// that of the settings that name the pack. Settings switch off what has no more
// authority than they.
func (h *Hook) Authority() Scope {
	if h.Source.Pack != "" {
		return h.Source.PackBy
	}
	return h.Scope
}

// Requires is what must be there for a hook to run. The zero value asks nothing.
type Requires struct {
	Bins    []string // each must be on PATH
	AnyBins []string // one must be
	Envs    []string // each must be set and not empty
	OS      []string // one must be this system: linux, macos (darwin), windows (win32), …
}

// BreakerSettings override the breaker's defaults for one hook; zero = default.
type BreakerSettings struct {
	Failures int           // consecutive failures that open it; negative = never
	Cooldown time.Duration // how long it stays open before a probe
}

// MatcherSyntax is the language of a matcher.
type MatcherSyntax string

const (
	// SyntaxClaude tells names, lists and JavaScript regular expressions apart
	// by the characters in the matcher. The default.
	SyntaxClaude MatcherSyntax = ""
	// SyntaxRegexp is always a JavaScript regular expression, unanchored.
	SyntaxRegexp MatcherSyntax = "regexp"
	// SyntaxGlob is an anchored glob of * and ?, as caliban has it.
	SyntaxGlob MatcherSyntax = "glob"
)

// FailurePolicy says what a hook's failure means for the action.
type FailurePolicy string

const (
	// FailureContinue lets the action continue; the failure is counted and
	// reported. The default, and the zero value means the same.
	FailureContinue FailurePolicy = "continue"
	// FailureBlock turns a failure into the event's blocking outcome.
	FailureBlock FailurePolicy = "block"
)

// Protocol names a dialect of payloads and answers.
type Protocol string

// The protocols a hook can declare. "" means ProtocolClaude.
const (
	ProtocolClaude       Protocol = "claude"
	ProtocolClaudeLegacy Protocol = "claude-legacy" // JSON before the exit code
	ProtocolStarpod      Protocol = "starpod"
	ProtocolCaliban      Protocol = "caliban"
	ProtocolMoltis       Protocol = "moltis"
	ProtocolGemini       Protocol = "gemini"
	ProtocolQwen         Protocol = "qwen"
	ProtocolCopilot      Protocol = "copilot"
	ProtocolCursor       Protocol = "cursor"
	ProtocolCline        Protocol = "cline"
)

// Protocols lists the protocols a file can declare.
func Protocols() []Protocol {
	return []Protocol{ProtocolClaude, ProtocolClaudeLegacy, ProtocolStarpod, ProtocolCaliban, ProtocolMoltis,
		ProtocolGemini, ProtocolQwen, ProtocolCopilot, ProtocolCursor, ProtocolCline}
}

// State is whether a hook can run, and the `list` command's word for it.
type State string

// The states. The zero State is StateReady.
const (
	StateReady       State = "ready"
	StateUntrusted   State = "untrusted"   // this definition has no approval
	StateIneligible  State = "ineligible"  // something it requires is missing
	StateDisabled    State = "disabled"    // switched off, by itself or by a gate
	StateShadowed    State = "shadowed"    // a nearer scope has a hook of this name
	StateUnsupported State = "unsupported" // nothing here can run it
	StateInvalid     State = "invalid"     // its definition is wrong
)

// Scope is where a hook comes from, and how far its word reaches. Scopes are
// ordered: a smaller one is asked first.
type Scope uint8

// The scopes, in the order in which their hooks run and merge.
const (
	ScopeManaged Scope = iota + 1
	ScopeUser
	ScopeProject
	ScopeLocal
	ScopePlugin
	ScopeDir       // a folder that the operator named
	ScopeSession   // registered by the agent for one session
	ScopeInProcess // registered from Go
)

var scopeNames = [...]string{"", "managed", "user", "project", "local", "plugin", "dir", "session", "in-process"}

// String returns the scope's name as it stands in IDs.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return fmt.Sprintf("Scope(%d)", uint8(s))
}

// MarshalText makes a Scope its name in JSON.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
