package dialect

import (
	"cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// noReason stands where a hook blocks and does not say why.
const noReason = "blocked by a hook; no reason given"

// applyDecisions applies what the answer decides about the action. Of several
// decisions the strictest one stands.
func (x *reading) applyDecisions() {
	x.topDecision()
	x.permission()
	x.request()
	x.elicitation()
}

// decide notes a verdict unless a stricter one stands. Of equal ones the last
// one's reason stays, which is the one closest to the event.
func (x *reading) decide(v hook.Verdict, reason string) {
	if v >= x.out.Verdict {
		x.out.Verdict, x.out.Reason = v, shortReason(reason)
	}
}

// block denies, where a hook can block the event.
func (x *reading) block(what, reason string) {
	if !x.canBlock {
		x.refuse(what+" has no effect on "+string(x.event), x.howToBlock())
		return
	}
	if reason == "" && x.info.Block == hook.BlockStop {
		x.call.Warn("missing_reason", what+" on "+string(x.event)+" needs a reason",
			"say what is left to do: the agent gets nothing else")
	}
	x.decide(hook.Deny, cmp.Or(reason, noReason))
}

// topDecision reads the decision of the answer itself. On a tool "approve" is
// the old word for allow; elsewhere it only says that nothing is blocked.
func (x *reading) topDecision() {
	if !x.has(fDecision) {
		return
	}
	decision := x.text(fDecision)
	if x.wire.verdicts {
		decision = cmp.Or(decisionWords[decision], decision)
	}
	switch {
	case decision == "ask" && x.wire.verdicts && x.info.Fields.Has(hook.FieldPermission):
		x.decide(hook.Ask, x.ownReason())
	case decision == "approve":
		if x.isToolPermission() {
			x.decide(hook.Allow, x.text(fReason))
		}
	case decision != "block":
		x.refuse("decision is "+phrase.Quote(decision)+": want block or approve", x.howToBlock())
	case !x.info.BlockField:
		x.refuse(`decision "block" has no effect on `+string(x.event), x.howToBlock())
	default:
		x.block(`decision "block"`, cmp.Or(x.text(fReason), x.ownReason()))
	}
}

// decisionWords are what other products say for block and approve.
var decisionWords = map[string]string{"deny": "block", "allow": "approve"}

// isToolPermission reports whether the event asks if a tool may run: there
// approve and defer have a meaning.
func (x *reading) isToolPermission() bool {
	return x.info.Fields.Has(hook.FieldPermission | hook.FieldUpdatedInput)
}

var permissions = map[string]hook.Verdict{
	"allow": hook.Allow, "deny": hook.Deny, "ask": hook.Ask, "defer": hook.Defer,
}

// permission reads permissionDecision.
func (x *reading) permission() {
	if !x.has(fPermission) {
		return
	}
	word := x.text(fPermission)
	verdict, known := permissions[word]
	if verdict == hook.Defer && !x.isToolPermission() {
		known = false
	}
	if !known {
		x.refuse("permissionDecision is "+phrase.Quote(word)+", which "+string(x.event)+" does not take",
			"want allow, deny or ask, and on a tool defer")
		return
	}
	reason := cmp.Or(x.text(fPermissionReason), x.text(fReason), x.ownReason())
	if verdict == hook.Deny {
		reason = cmp.Or(reason, noReason)
	}
	x.decide(verdict, reason)
}

// request reads the decision object of a PermissionRequest.
func (x *reading) request() {
	if !x.has(fRequest) {
		return
	}
	switch behavior := x.text(fBehavior); behavior {
	case "allow":
		x.decide(hook.Allow, x.text(fMessage))
		x.out.UpdatedInput = x.raw(fRequestInput)
		if x.has(fRequestPermissions) {
			x.out.Permission = &hook.PermissionAnswer{UpdatedPermissions: x.raw(fRequestPermissions)}
		}
	case "deny":
		x.decide(hook.Deny, cmp.Or(x.text(fMessage), noReason))
		if x.flag(fInterrupt) {
			x.out.Permission = &hook.PermissionAnswer{Interrupt: true}
		}
	default:
		x.refuse("behavior is "+phrase.Quote(behavior)+": want allow or deny", x.howToBlock())
	}
}

// elicitation reads the answer to an MCP server in a person's place.
func (x *reading) elicitation() {
	if !x.has(fElicitation) {
		return
	}
	action := x.text(fElicitation)
	switch action {
	case "accept":
		x.decide(hook.Allow, x.text(fReason))
	case "decline", "cancel":
		x.decide(hook.Deny, cmp.Or(x.text(fReason), noReason))
	default:
		x.refuse("action is "+phrase.Quote(action)+": want accept, decline or cancel", x.howToBlock())
		return
	}
	x.out.Elicitation = &hook.ElicitationAnswer{Action: action, Content: x.raw(fContent)}
}

// howToBlock is what a hook of this protocol does to block this event.
func (x *reading) howToBlock() string {
	specific := func(fields string) string {
		return `to refuse, print {"hookSpecificOutput": {"hookEventName": "` + string(x.event) + `", ` + fields + `}}`
	}
	switch fields := x.info.Fields; {
	case !x.canBlock:
		return "a hook cannot block " + string(x.event)
	case x.wire.own != nil:
		return `to refuse, print {"action": "block", "reason": "…"}`
	case x.wire.hasWords() && (fields.Has(hook.FieldPermission) || x.wire.verdicts && x.info.BlockField):
		return `to refuse, print ` + x.wire.refusal
	case fields.Has(hook.FieldPermission):
		return specific(`"permissionDecision": "deny", "permissionDecisionReason": "…"`)
	case fields.Has(hook.FieldRequest):
		return specific(`"decision": {"behavior": "deny", "message": "…"}`)
	case fields.Has(hook.FieldElicitation):
		return specific(`"action": "decline"`)
	case x.info.BlockField:
		return `to refuse, print {"decision": "block", "reason": "…"}`
	case fields.Has(hook.FieldContinue):
		return `to refuse, print {"continue": false, "stopReason": "…"}`
	}
	return "to refuse, exit with code 2 and the reason on stderr"
}
