package dialect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestMapEventKeepsTheTablesOwnNames(t *testing.T) {
	for _, info := range hook.Events() {
		got, ok := MapEvent(string(info.Event))
		if diff := cmp.Diff(Mapping{Event: info.Event}, got); !ok || diff != "" {
			t.Errorf("%s: known %v (-want +got):\n%s", info.Event, ok, diff)
		}
	}
}

func TestMapEventKnowsTheNamesOfProducts(t *testing.T) {
	moltis := func(ev hook.Event) Mapping {
		return Mapping{Event: ev, Protocol: hook.ProtocolMoltis, Product: "moltis"}
	}
	openclaw := func(ev hook.Event, matcher string) Mapping {
		return Mapping{Event: ev, Matcher: matcher, Product: "openclaw"}
	}
	for name, want := range map[string]Mapping{
		"BeforeAgentStart":       moltis("BeforeAgentStart"),
		"AgentEnd":               moltis(hook.EventStop),
		"BeforeLLMCall":          moltis("BeforeLLMCall"),
		"AfterLLMCall":           moltis("AfterLLMCall"),
		"BeforeCompaction":       moltis(hook.EventPreCompact),
		"AfterCompaction":        moltis(hook.EventPostCompact),
		"MessageReceived":        moltis(hook.EventUserPromptSubmit),
		"MessageSending":         moltis("MessageSending"),
		"MessageSent":            moltis("MessageSent"),
		"BeforeToolCall":         moltis(hook.EventPreToolUse),
		"AfterToolCall":          moltis(hook.EventPostToolUse),
		"ToolResultPersist":      moltis(hook.EventPostToolUse),
		"GatewayStart":           moltis("GatewayStart"),
		"GatewayStop":            moltis("GatewayStop"),
		"Command":                moltis("Command"),
		"command":                openclaw("command", ""),
		"command:new":            openclaw(hook.EventSessionStart, "clear"),
		"command:reset":          openclaw(hook.EventSessionStart, "clear"),
		"command:stop":           openclaw("command:stop", ""),
		"session:start":          openclaw(hook.EventSessionStart, ""),
		"session:end":            openclaw(hook.EventSessionEnd, ""),
		"session:compact:before": openclaw(hook.EventPreCompact, ""),
		"session:compact:after":  openclaw(hook.EventPostCompact, ""),
		"session:patch":          openclaw("session:patch", ""),
		"agent:bootstrap":        openclaw("agent:bootstrap", ""),
		"gateway:startup":        openclaw("gateway:startup", ""),
		"gateway:shutdown":       openclaw("gateway:shutdown", ""),
		"gateway:pre-restart":    openclaw("gateway:pre-restart", ""),
		"message":                openclaw("message", ""),
		"message:received":       openclaw(hook.EventUserPromptSubmit, ""),
		"message:transcribed":    openclaw("message:transcribed", ""),
		"message:preprocessed":   openclaw("message:preprocessed", ""),
		"message:sent":           openclaw("message:sent", ""),
	} {
		got, ok := MapEvent(name)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: known %v (-want +got):\n%s", name, ok, diff)
		}
	}
}

func TestMapEventComparesNamesExactly(t *testing.T) {
	for _, name := range []string{"", "pretooluse", "PreToolUse ", "beforeToolCall", "command:NEW", "command:", "beforeTool", "preToolUse"} {
		if got, ok := MapEvent(name); ok {
			t.Errorf("%q is known as %+v", name, got)
		}
	}
}

func TestNoTwoProductsClaimAName(t *testing.T) {
	owner := map[string]string{}
	for _, p := range []productEvents{moltisEvents, openclawEvents} {
		for name, n := range p.names {
			if _, isOurs := hook.Lookup(hook.Event(name)); isOurs {
				t.Errorf("%s of %s is hidden by the table's own event", name, p.product)
			}
			if owner[name] != "" {
				t.Errorf("%s belongs to %s and %s", name, owner[name], p.product)
			}
			owner[name] = p.product
			if _, known := hook.Lookup(n.event); n.event != "" && !known {
				t.Errorf("%s: counterpart %s is no event of the table", name, n.event)
			}
		}
	}
}
