package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// ownWord is a key that one product's answers have beside the common ones. Its
// snake_case spelling counts too.
type ownWord struct {
	at    place
	key   string
	apply func(x *reading, value json.RawMessage) *hook.Error
}

// The wires of products whose hooks refuse in words of their own.
var (
	// geminiWire reads Gemini CLI's and Antigravity's answers.
	geminiWire = wire{
		blockCode: 2, textBlocks: true, objectOverFailure: true, verdicts: true,
		words:   []ownWord{{atSpecific, "toolInput", mergeInput}},
		refusal: `{"decision": "deny", "reason": "…"}`,
	}
	// qwenWire reads Qwen Code's answers.
	qwenWire = wire{
		blockCode: 2, objectOverFailure: true, verdicts: true,
		refusal: `{"decision": "deny", "reason": "…"}`,
	}
	// copilotWire reads the flat answers of Copilot, and those of Claude Code, which
	// it takes too.
	copilotWire = wire{
		blockCode: 2, objectOverFailure: true, verdicts: true,
		words: []ownWord{
			{atTop, "permissionDecision", as(fPermission)}, {atTop, "permissionDecisionReason", as(fPermissionReason)},
			{atTop, "modifiedArgs", as(fUpdatedInput)}, {atTop, "modifiedResult", as(fUpdatedToolOutput)},
			{atTop, "additionalContext", as(fContext)},
			{atTop, "behavior", requested(fBehavior)}, {atTop, "message", requested(fMessage)}, {atTop, "interrupt", requested(fInterrupt)},
		},
		refusal: `{"permissionDecision": "deny", "permissionDecisionReason": "…"}`,
	}
	// cursorWire reads Cursor's answers.
	cursorWire = wire{
		blockCode: 2, objectOverFailure: true, verdicts: true,
		words: []ownWord{
			{atTop, "permission", as(fPermission)}, {atTop, "agentMessage", as(fPermissionReason)},
			{atTop, "userMessage", as(fSystemMessage)}, {atTop, "updatedInput", as(fUpdatedInput)},
			{atTop, "additionalContext", as(fContext)}, {atTop, "updatedMcpToolOutput", as(fUpdatedToolOutput)},
			{atTop, "followupMessage", followUp},
		},
		refusal: `{"permission": "deny", "agent_message": "…"}`,
	}
	// clineWire reads Cline's answers. There no exit code blocks; here 2 does.
	clineWire = wire{
		blockCode: 2, objectOverFailure: true,
		words: []ownWord{
			{atTop, "cancel", cancels}, {atTop, "errorMessage", as(fReason)},
			{atTop, "contextModification", as(fContext)}, {atTop, "overrideInput", as(fUpdatedInput)},
		},
		refusal: `{"cancel": true, "errorMessage": "…"}`,
	}
)

// ownWord finds a word of the protocol's own.
func (w *wire) ownWord(at place, key string) *ownWord {
	for i := range w.words {
		if own := &w.words[i]; own.at == at && (own.key == key || snakeCase(own.key) == key) {
			return own
		}
	}
	return nil
}

// hasWords reports whether the protocol is a product's with words of its own.
func (w *wire) hasWords() bool { return w.refusal != "" }

// as takes a word for a field. Where the field has another value already, the
// stricter one stays and the answer is unsound.
func as(id fieldID) func(*reading, json.RawMessage) *hook.Error {
	return func(x *reading, value json.RawMessage) *hook.Error {
		if old := x.answer[id]; old != nil && !bytes.Equal(old, value) {
			x.unsoundly(fieldTable[id].key+" is said twice, in two ways", "keep one of them")
			if rankOf(old) >= rankOf(value) {
				return nil
			}
		}
		x.answer[id], x.camel[id] = value, true
		return x.check(id)
	}
}

func rankOf(value json.RawMessage) hook.Verdict {
	return permissions[strings.Trim(string(value), `"`)]
}

// requested takes a word for a field of the decision on a permission request.
func requested(id fieldID) func(*reading, json.RawMessage) *hook.Error {
	return func(x *reading, value json.RawMessage) *hook.Error {
		if id == fBehavior {
			x.answer[fRequest] = json.RawMessage("{}")
		}
		return as(id)(x, value)
	}
}

// mergeInput lays the keys of an object over the tool's input.
func mergeInput(x *reading, value json.RawMessage) *hook.Error {
	if call, ok := hook.ToolCallOf(x.call.Input); ok && wantObject.is(value) {
		merged := make(map[string]json.RawMessage)
		if json.Unmarshal(call.ToolInput, &merged) == nil && json.Unmarshal(value, &merged) == nil {
			if whole, err := json.Marshal(merged); err == nil {
				value = whole
			}
		}
	}
	return as(fUpdatedInput)(x, value)
}

// followUp keeps an agent working with a message, where a hook can do that.
func followUp(x *reading, value json.RawMessage) *hook.Error {
	if err := as(fReason)(x, value); err != nil || x.text(fReason) == "" {
		return err
	}
	return as(fDecision)(x, json.RawMessage(`"block"`))
}

// cancels reads a flag that blocks where it is true.
func cancels(x *reading, value json.RawMessage) *hook.Error {
	switch {
	case !wantBool.is(value):
		x.refuse("cancel: want "+string(wantBool)+", got "+clip(value), "")
	case string(value) == "true":
		return as(fDecision)(x, json.RawMessage(`"block"`))
	default:
		x.says = true
	}
	return nil
}

// ownReason is the reason of a decision that has none in the common fields.
func (x *reading) ownReason() string {
	if !x.wire.hasWords() {
		return ""
	}
	return cmp.Or(x.text(fPermissionReason), x.text(fReason), x.text(fSystemMessage))
}

// isEvent reports whether a name in hookSpecificOutput is that of the event. A
// product's own name for it counts in its protocol.
func (x *reading) isEvent(name string) bool {
	if name == string(x.event) {
		return true
	}
	mapped, _ := MapEvent(name)
	return x.wire.hasWords() && (mapped.Event == x.event || strings.EqualFold(name, string(x.event)))
}
