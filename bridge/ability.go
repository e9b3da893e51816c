package bridge

// Ability is something that an outcome can ask of an agent, or that a guard
// needs from it.
type Ability string

// The abilities, in the order of the matrix.
const (
	Deny          Ability = "deny before a tool"
	Ask           Ability = "ask a person before a tool"
	Defer         Ability = "defer a tool"
	Allow         Ability = "allow a tool without the agent's own prompt"
	Rewrite       Ability = "rewrite a tool's input"
	ToolContext   Ability = "context before a tool"
	StopAtTool    Ability = "continue: false before a tool"
	BlockPrompt   Ability = "block a prompt"
	PromptContext Ability = "context with a prompt"
	StartContext  Ability = "context at a session's start"
	Feedback      Ability = "feedback after a tool"
	AfterContext  Ability = "context after a tool"
	Result        Ability = "replace a tool's result"
	KeepWorking   Ability = "keep working at a stop"
	StopAfter     Ability = "continue: false after a tool"
	Messages      Ability = "messages for the person"
	MCPTools      Ability = "MCP tools"
	Subagents     Ability = "tools of subagents"
	AllTools      Ability = "every tool of its own reaches a hook"
	FailsClosed   Ability = "fails closed when tenterhook is gone, crashes or hangs"
	HooksSurvive  Ability = "a project cannot switch the hooks off"
)

// Abilities lists all abilities, in the order of the matrix.
func Abilities() []Ability {
	return []Ability{
		Deny, Ask, Defer, Allow, Rewrite, ToolContext, StopAtTool, BlockPrompt, PromptContext, StartContext, Feedback,
		AfterContext, Result, KeepWorking, StopAfter, Messages, MCPTools, Subagents, AllTools, FailsClosed, HooksSurvive,
	}
}

// Level is how far an agent does what is asked.
type Level string

// The levels.
const (
	Yes      Level = "yes"
	Partly   Level = "partly"   // the note says how far
	Stricter Level = "stricter" // it becomes a denial
	Held     Level = "later"    // it reaches the model with a later event
	No       Level = "no"
)

// Seen is what became of an attempt with the real client.
type Seen string

// What the tests see. The zero Seen: no test tries it.
const (
	Done   Seen = "done"
	Denied Seen = "denied" // the call did not run, and the model got the reason
	Missed Seen = "no"
)

// Level is the level of what was seen, as long as no note qualifies it.
func (s Seen) Level() Level {
	return map[Seen]Level{Done: Yes, Denied: Stricter, Missed: No}[s]
}

// Fits reports whether an attempt that is seen so can have the level.
func (s Seen) Fits(l Level) bool {
	return s == "" || s.Level() == l || s == Done && l == Held || s != Denied && l == Partly
}

// Cell is a cell of the matrix.
type Cell struct {
	Level Level  `json:"level"`
	Note  string `json:"note,omitempty"` // what is missing, or how it is done
	Seen  Seen   `json:"seen,omitempty"`
}

// enforces reports whether the agent is asked to do it at all.
func (a *Agent) enforces(what Ability) bool {
	level := a.Can(what).Level
	return level == Yes || level == Partly
}
