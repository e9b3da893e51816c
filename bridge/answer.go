package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Answer is what an entry prints and how it exits.
type Answer struct {
	Stdout, Stderr []byte
	ExitCode       int

	// Held is context that this event does not take. The caller keeps it for the
	// session's next event that does (see [Agent.TakesContext]) and puts it in
	// front of that outcome's contexts.
	Held []string
	// Losses are what the outcome asked for and the agent cannot do.
	Losses []Loss
	// Env are variables for the session's later commands. The caller appends them
	// to the file that the entry's CLAUDE_ENV_FILE names. nil = none.
	Env map[string]string
}

// Loss is something that an outcome asked for and an agent cannot do.
type Loss struct {
	Wanted string // in the words of an answer: "ask", "updatedInput", …
	Became string // what was done instead: "deny", "later", "feedback", "nothing"
	Why    string
}

func (l Loss) String() string {
	return fmt.Sprintf("%s became %s: %s", l.Wanted, l.Became, l.Why)
}

// reply is an outcome that its agent can carry out.
type reply struct {
	agent  *Agent
	native string
	event  hook.Event
	in     hook.Input // nil if the payload could not be read
	said   native
	out    *hook.Outcome

	verdict    hook.Verdict
	reason     string // never empty with a denial
	stop       bool
	stopReason string
	input      json.RawMessage // in the agent's own keys
	output     json.RawMessage
	context    string
	message    string

	held   []string
	losses []Loss
}

// Encode writes an outcome in the agent's words. in is what Decode returned for
// the same call; event is the agent's own name. It never answers less strictly
// than the outcome asks for without a Loss, and never denies without a reason.
func (a *Agent) Encode(event string, in hook.Input, out *hook.Outcome) Answer {
	if a.isClaude() && in != nil && isCopilotPayload(a, in) {
		a = &copilot
	}
	ours, ok := a.Event(event)
	if !ok {
		return a.Undecided(event, fmt.Sprintf("%s has no event %q", a.Title, event))
	}
	if out == nil {
		return a.Undecided(event, "no hook was asked")
	}
	r := &reply{agent: a, native: event, event: ours, in: in, said: nativeOf(in), out: out,
		verdict: out.Verdict, reason: out.Reason, stop: out.Stop, stopReason: out.StopReason,
		output: out.UpdatedToolOutput, message: strings.Join(out.SystemMessages, "\n")}
	r.settleRewrite()
	r.settleVerdict()
	r.settleStop()
	r.settleResult()
	r.settleContext()
	r.settleRest()
	if r.verdict == hook.Deny {
		r.reason = cmp.Or(strings.TrimSpace(r.reason), strings.TrimSpace(r.stopReason), "a hook denied it and gave no reason")
	}
	answer := a.answer(r)
	answer.Held, answer.Losses = r.held, r.losses
	if a.isClaude() {
		answer.Env = out.Env
	}
	return answer
}

func (r *reply) lose(wanted, became, why string) {
	r.losses = append(r.losses, Loss{wanted, became, why})
}

// deny makes the reply a denial in the place of something that the agent cannot
// do.
func (r *reply) deny(wanted, why, reason string) {
	r.verdict, r.reason, r.input = hook.Deny, reason, nil
	r.lose(wanted, "deny", why)
}

// settleRewrite keeps a rewrite that the agent enforces, in its own keys; any
// other becomes a denial that names the new input.
func (r *reply) settleRewrite() {
	updated := r.out.UpdatedInput
	if updated == nil || r.verdict == hook.Deny {
		return
	}
	_, input, ok := toolOf(r.in)
	if !ok || sameJSON(updated, input) {
		return
	}
	r.input = updated
	able := r.agent.enforces(Rewrite) && r.agent.lists[r.said.Tool] == ""
	switch {
	case r.event == hook.EventPermissionRequest:
		able = r.agent.isClaude() && r.verdict == hook.Allow
	case able && r.agent.express != nil:
		able = r.agent.express(r)
	case able:
		r.input = r.nativeInput(updated)
	}
	if !able {
		reason := fmt.Sprintf("A hook changed the input of this call, and %s cannot apply the change. Call the tool again with this input: %s",
			r.agent.Title, r.nativeInput(updated))
		if r.out.Reason != "" {
			reason += " (" + r.out.Reason + ")"
		}
		r.deny("updatedInput", cmp.Or(r.agent.Can(Rewrite).Note, "a rewritten input is not enforced here"), reason)
	}
}

// nativeInput gives a tool's input its agent's own keys back.
func (r *reply) nativeInput(input json.RawMessage) json.RawMessage {
	name, _, _ := toolOf(r.in)
	var before []hook.Member
	if len(r.said.Input) > 0 {
		before, _ = hook.Members(r.said.Input) // Decode read them already
	}
	t, _ := r.agent.toolFor(cmp.Or(r.said.Tool, name), r.said.Input)
	keys, back := t.keys, make(map[string]string)
	for _, from := range slices.Sorted(maps.Keys(keys)) {
		if _, taken := back[keys[from]]; !taken || hasKey(before, from) { // of several old keys, the key that the call used
			back[keys[from]] = from
		}
	}
	if renamed := renameKeys(input, back); renamed != nil {
		return renamed
	}
	return input
}

func hasKey(members []hook.Member, key string) bool {
	for _, m := range members {
		if m.Key == key {
			return true
		}
	}
	return false
}

// settleVerdict makes the verdict a verdict that the agent enforces.
func (r *reply) settleVerdict() {
	gate := hook.Info(r.event).Block == hook.BlockAction
	switch {
	case r.event == hook.EventPreToolUse:
		r.settleTool()
	case r.event == hook.EventPermissionRequest:
		if r.verdict == hook.Ask || r.verdict == hook.Defer {
			r.verdict = hook.NoOpinion // a person is about to be asked
		}
	case gate && (r.verdict == hook.Ask || r.verdict == hook.Defer):
		r.deny(r.verdict.String(), "no person can be asked at "+r.native, r.reason)
	case r.verdict == hook.Deny && !gate:
		r.settleFeedback()
	}
	if r.verdict == hook.Deny && gate && !r.agent.IsGate(r.native) {
		r.verdict = hook.NoOpinion
		r.lose("deny", "nothing", r.agent.Title+" does not let hooks block "+r.native)
	}
}

func (r *reply) settleTool() {
	switch {
	case r.verdict == hook.Ask && !r.agent.enforces(Ask):
		r.deny("ask", r.agent.Can(Ask).Note, fmt.Sprintf("A person has to approve this, and %s cannot ask for it. %s", r.agent.Title, r.reason))
	case r.verdict == hook.Defer && !r.agent.enforces(Defer):
		r.deny("defer", r.agent.Can(Defer).Note, fmt.Sprintf("This has to wait for a decision, and %s cannot wait for it. %s", r.agent.Title, r.reason))
	case r.verdict == hook.Allow && !r.agent.enforces(Allow):
		r.verdict = hook.NoOpinion
		r.lose("allow", "no objection", cmp.Or(r.agent.Can(Allow).Note, "the agent's own permissions decide"))
	}
}

// settleFeedback delivers a block of something that has happened already.
func (r *reply) settleFeedback() {
	what := Feedback
	switch r.event {
	case hook.EventStop, hook.EventSubagentStop, hook.EventTeammateIdle, hook.EventTaskCompleted:
		what = KeepWorking
	}
	if r.agent.enforces(what) && (r.event != hook.EventTeammateIdle && r.event != hook.EventTaskCompleted || r.agent.isClaude()) {
		return
	}
	r.verdict = hook.NoOpinion
	if what == KeepWorking {
		r.lose("block", "nothing", r.agent.Title+" cannot be kept from stopping by a hook")
		return
	}
	r.out = withContext(r.out, r.reason)
	r.lose("block", "context", r.agent.Title+" takes no feedback from "+r.native)
}

// withContext is an outcome with one more context.
func withContext(out *hook.Outcome, text string) *hook.Outcome {
	if text == "" {
		return out
	}
	more := *out
	more.Contexts = append([]string{text}, out.Contexts...)
	return &more
}

// settleStop says what a hook's continue:false comes to. At a gate the outcome
// is a denial already.
func (r *reply) settleStop() {
	if !r.stop {
		return
	}
	switch hook.Info(r.event).Block {
	case hook.BlockAction:
		if what := r.stopAbility(); !r.agent.enforces(what) {
			r.stop = false
			r.lose("continue: false", "deny", cmp.Or(r.agent.Can(what).Note, "the agent continues with its next step"))
		}
	case hook.BlockStop: // it stops, as it wants to
	default:
		if r.agent.enforces(StopAfter) {
			return
		}
		r.stop = false
		reason := cmp.Or(r.stopReason, "a hook asked the agent to stop")
		if r.event == hook.EventPostToolUse && r.agent.enforces(Feedback) {
			r.verdict, r.reason = hook.Deny, reason
			r.lose("continue: false", "feedback", r.agent.Title+" does not stop there")
			return
		}
		r.out = withContext(r.out, reason)
		r.lose("continue: false", "context", r.agent.Title+" does not stop there")
	}
}

func (r *reply) stopAbility() Ability {
	if r.event == hook.EventPreToolUse {
		return StopAtTool
	}
	return BlockPrompt
}

func (r *reply) settleResult() {
	if r.output != nil && !r.agent.enforces(Result) {
		r.output = nil
		r.lose("updatedToolOutput", "nothing", cmp.Or(r.agent.Can(Result).Note, "a tool's result cannot be replaced"))
	}
}

// contextAbility is what an event needs to take context.
var contextAbility = map[hook.Event]Ability{
	hook.EventPreToolUse: ToolContext, hook.EventUserPromptSubmit: PromptContext, hook.EventSessionStart: StartContext,
	hook.EventPostToolUse: AfterContext, hook.EventPostToolUseFailure: AfterContext,
}

// TakesContext reports whether context that is given with an event, by the
// agent's own name, reaches the model with it.
func (a *Agent) TakesContext(native string) bool {
	ev, ok := a.Event(native)
	if !ok {
		return false
	}
	if what, ok := contextAbility[ev]; ok {
		return a.enforces(what)
	}
	return a.isClaude() && hook.Info(ev).Fields.Has(hook.FieldContext) && hook.Info(ev).Block != hook.BlockStop
}

// settleContext gives the context to the event, or holds it for a later one.
func (r *reply) settleContext() {
	contexts := r.out.Contexts
	if len(contexts) == 0 {
		return
	}
	if hook.Info(r.event).Block == hook.BlockStop {
		if r.verdict == hook.Deny { // the reason is the first, or goes before them
			for _, text := range contexts {
				if text != r.reason {
					r.reason += "\n\n" + text
				}
			}
			return
		}
	}
	denied := r.verdict == hook.Deny && hook.Info(r.event).Block == hook.BlockAction
	if r.agent.TakesContext(r.native) && (!denied || r.agent.besideDenial) {
		r.context = strings.Join(contexts, "\n\n")
		return
	}
	if r.event == hook.EventSessionEnd || r.event == hook.EventStop && r.verdict != hook.Deny {
		r.lose("additionalContext", "nothing", "no later event of this turn can take it")
	}
	r.held = contexts
	r.lose("additionalContext", "later", fmt.Sprintf("%s takes no context there", r.native))
}

// settleRest reports fields that only Claude Code has.
func (r *reply) settleRest() {
	if r.message != "" && !r.agent.enforces(Messages) {
		r.message = ""
		r.lose("systemMessage", "nothing", r.agent.Title+" shows no messages of hooks")
	}
	if r.agent.isClaude() {
		return
	}
	for name, there := range map[string]bool{
		"updatedPermissions": r.out.Permission != nil && r.out.Permission.UpdatedPermissions != nil,
		"initialUserMessage": len(r.out.InitialUserMessages) > 0, "sessionTitle": r.out.SessionTitle != "",
		"watchPaths": len(r.out.WatchPaths) > 0, "suppressOriginalPrompt": r.out.SuppressOriginalPrompt,
		"CLAUDE_ENV_FILE": len(r.out.Env) > 0, "retry": r.out.Retry, "terminalSequence": len(r.out.TerminalSequences) > 0,
	} {
		if there {
			r.lose(name, "nothing", r.agent.Title+" does not have it")
		}
	}
}

// sameJSON compares two values without regard to the order of keys and to
// white space. Numbers are compared as they are written.
func sameJSON(a, b json.RawMessage) bool {
	decode := func(raw json.RawMessage) (v any, ok bool) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		return v, d.Decode(&v) == nil
	}
	x, okX := decode(a)
	y, okY := decode(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// marshal writes what an entry prints: one line.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil // a raw value that is no JSON; the caller's exit code counts
	}
	return b.Bytes()
}
