package dialect

import (
	"github.com/tenterhook/tenterhook/hook"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// moltisEvents are moltis' names. Its SessionStart and SessionEnd are the
// table's own. Both of its events about a finished tool are PostToolUse: one
// observes the result, the other may replace it.
var moltisEvents = productEvents{
	product:  "moltis",
	protocol: hook.ProtocolMoltis,
	names: map[string]counterpart{
		"BeforeAgentStart":  {},
		"AgentEnd":          {event: hook.EventStop},
		"BeforeLLMCall":     {},
		"AfterLLMCall":      {},
		"BeforeCompaction":  {event: hook.EventPreCompact},
		"AfterCompaction":   {event: hook.EventPostCompact},
		"MessageReceived":   {event: hook.EventUserPromptSubmit},
		"MessageSending":    {},
		"MessageSent":       {},
		"BeforeToolCall":    {event: hook.EventPreToolUse},
		"AfterToolCall":     {event: hook.EventPostToolUse},
		"ToolResultPersist": {event: hook.EventPostToolUse},
		"GatewayStart":      {},
		"GatewayStop":       {},
		"Command":           {},
	},
}

// moltisWire reads moltis' answers: the exit code speaks first, and stdout is
// {"action": "modify" | "block" | "continue"}. There a broken stdout lets the
// action continue in silence; here it is a failure.
var moltisWire = wire{
	blockCode:    1,
	plainIgnored: true,
	observesStop: true,
	own:          (*reading).moltisObject,
}

// moltisObject applies an object of moltis.
func (x *reading) moltisObject(data []byte) *hook.Error {
	if err := x.collect(atMoltis, data); err != nil {
		return err
	}
	if !x.has(fAction) {
		if x.says || x.unknowns > 0 {
			x.refuse(`an object without "action" says nothing to moltis`,
				`print {"action": "block", "reason": "…"}, or declare protocol = "claude"`)
		}
		return nil
	}
	switch action := x.text(fAction); action {
	case "continue":
	case "block":
		x.block(`action "block"`, x.text(fActionReason))
	case "modify":
		x.moltisModify()
	default:
		x.refuse("action is "+phrase.Quote(action)+": want continue, modify or block", "")
	}
	return nil
}

// moltisModify replaces what the event is about. Where that cannot be done the
// hook failed: what it meant to change continues unchanged.
func (x *reading) moltisModify() {
	data := x.answer[fData]
	switch {
	case data == nil:
		x.refuse(`action "modify" without "data" changes nothing`, "")
	case x.info.Fields.Has(hook.FieldUpdatedInput):
		if data[0] != '{' {
			x.refuse("data: want an object, the tool's input, got "+clip(data), "")
			return
		}
		x.out.UpdatedInput = data
	case x.info.Fields.Has(hook.FieldToolOutput):
		x.out.UpdatedToolOutput = data
	default:
		x.refuse(`action "modify" can change nothing on `+string(x.event), "")
	}
}
