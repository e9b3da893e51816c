package bridge

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/hook"
)

// Agent is a product that has hooks. Its methods may be called from many
// goroutines at once.
type Agent struct {
	Name  string // as in an entry's command line: "claude"
	Title string // for people: "Claude Code"

	events []event
	tools  map[string]tool
	// lists are the keys of tools' inputs that hold a list of inputs of their own: the
	// call stands for as many calls.
	lists map[string]string
	// variant names the entry of tools for a call of a tool that does several things;
	// nil or "" = that of its own name.
	variant func(name string, input json.RawMessage) string

	// besideDenial: context reaches the model beside a denial.
	besideDenial bool

	// means tells what a call of the shell really is, by our names, if it does
	// nothing else; nil = what it says.
	means func(c *call, input json.RawMessage) (name string, canonical json.RawMessage, ok bool)
	// prepare turns the payload's own fields into the canonical ones; nil where
	// they are the same.
	prepare func(c *call) error
	// mcp splits a tool's name into server and tool; nil where MCP tools have
	// their canonical names already.
	mcp func(c *call, name string) (server, tool string, ok bool)
	// answer writes a reply in the agent's words.
	answer func(r *reply) Answer
	// express turns a rewritten input into what the agent takes; false where it
	// cannot be expressed. nil = any input is taken as it is.
	express func(r *reply) bool
}

// event is an event of an agent: its own name and ours.
type event struct {
	native string
	event  hook.Event
}

// tool is a tool of an agent: our name, and our keys for those of its input
// that have others.
type tool struct {
	name string
	keys map[string]string // the agent's key → ours
}

// agents are all that there are, in the order of their names.
var agents = func() []*Agent {
	all := []*Agent{
		&claude, &codex, &gemini, &copilot, &qwen, &opencode, &cline, &pi,
		&vscode, &cursor, &windsurf, &factory, &kiro,
	}
	slices.SortFunc(all, func(a, b *Agent) int { return cmp.Compare(a.Name, b.Name) })
	return all
}()

// Agents lists all agents, by name. Do not change them.
func Agents() []*Agent { return slices.Clone(agents) }

// Lookup finds an agent by its name.
func Lookup(name string) (*Agent, bool) {
	for _, a := range agents {
		if a.Name == name {
			return a, true
		}
	}
	return nil, false
}

// Events lists the agent's own names of the events that an entry is installed
// for.
func (a *Agent) Events() []string {
	names := make([]string, len(a.events))
	for i, e := range a.events {
		names[i] = e.native
	}
	return names
}

// Event is the canonical event of one of the agent's own names.
func (a *Agent) Event(native string) (hook.Event, bool) {
	for _, e := range a.events {
		if e.native == native {
			return e.event, true
		}
	}
	return "", false
}

// IsGate reports whether an event fails closed, by the agent's own name.
func (a *Agent) IsGate(native string) bool {
	return closed.Classify(a.Name, native) == closed.Gate
}

// Undecided is the answer when nothing could be decided: gates fail closed,
// observers and Stop fail open.
func (a *Agent) Undecided(event, why string) Answer {
	c := closed.Undecided(a.Name, event, why)
	return Answer{Stdout: []byte(c.Stdout), Stderr: []byte(c.Stderr), ExitCode: c.ExitCode}
}

// native is what an input says in the agent's own words, beside ours.
type native struct {
	Event string          `json:"hook_event_name"`
	Tool  string          `json:"tool_name,omitempty"`
	Input json.RawMessage `json:"tool_input,omitempty"`
}

const (
	agentKey  = "agent"
	nativeKey = "native"
)

// nativeOf reads back what Decode noted in an input.
func nativeOf(in hook.Input) native {
	var n native
	if in != nil {
		_ = json.Unmarshal(in.Common().Extra[nativeKey], &n) // our own words, or nothing
	}
	return n
}

// CallKey identifies one call of one event, where the agent may ask about it
// twice (Copilot runs its own entry and that of a project's Claude settings).
// Two calls with the same key within a moment are the same; "" says that the
// agent asks once.
func (a *Agent) CallKey(in hook.Input) string {
	if in == nil || !isCopilotPayload(a, in) {
		return ""
	}
	base := in.Common()
	parts := []string{base.SessionID, string(in.Event()), string(base.Extra["timestamp"])}
	if name, input, ok := toolOf(in); ok {
		parts = append(parts, name, string(input))
	}
	return strings.Join(parts, "\x00")
}

// toolOf is the tool of an input that has one.
func toolOf(in hook.Input) (name string, input json.RawMessage, ok bool) {
	switch {
	case is[hook.PreToolUse](in):
		v, _ := hook.As[hook.PreToolUse](in)
		return v.ToolName, v.ToolInput, true
	case is[hook.PermissionRequest](in):
		v, _ := hook.As[hook.PermissionRequest](in)
		return v.ToolName, v.ToolInput, true
	case is[hook.PostToolUse](in):
		v, _ := hook.As[hook.PostToolUse](in)
		return v.ToolName, v.ToolInput, true
	case is[hook.PostToolUseFailure](in):
		v, _ := hook.As[hook.PostToolUseFailure](in)
		return v.ToolName, v.ToolInput, true
	}
	return "", nil, false
}

func is[T hook.Input](in hook.Input) bool { _, ok := hook.As[T](in); return ok }

// isClaude reports whether it is Claude Code, whose events and fields are ours.
func (a *Agent) isClaude() bool { return a.Name == "claude" }
