package dialect

import "github.com/tenterhook/tenterhook/hook"

// wire is how one protocol's answers are read, as choices in one reading.
type wire struct {
	// blockCode is the exit code that blocks; 0 = none does.
	blockCode int
	// objectOverBlock: an object that decides beats blockCode.
	objectOverBlock bool
	// objectOverFailure: an object that says something beats the other codes
	// that are not 0.
	objectOverFailure bool
	// nameOptional: hookSpecificOutput counts without a hookEventName.
	nameOptional bool
	// plainIgnored: plain text never becomes context.
	plainIgnored bool
	// observesStop: hooks cannot keep an agent from stopping.
	observesStop bool
	// textBlocks: any code above blockCode blocks too, beside a text.
	textBlocks bool
	// verdicts: "decision" takes allow, deny and ask, too.
	verdicts bool
	// words are keys of the protocol's own.
	words []ownWord
	// refusal is how a hook refuses in words of the protocol's own; "" = it has
	// none.
	refusal string
	// own applies an object of a shape of the protocol's own; nil = the
	// common one.
	own func(x *reading, data []byte) *hook.Error
}

var wires = map[hook.Protocol]*wire{
	hook.ProtocolClaude:       &claudeWire,
	hook.ProtocolClaudeLegacy: &legacyWire,
	hook.ProtocolStarpod:      &starpodWire,
	hook.ProtocolCaliban:      &calibanWire,
	hook.ProtocolMoltis:       &moltisWire,
	hook.ProtocolGemini:       &geminiWire,
	hook.ProtocolQwen:         &qwenWire,
	hook.ProtocolCopilot:      &copilotWire,
	hook.ProtocolCursor:       &cursorWire,
	hook.ProtocolCline:        &clineWire,
}

// wireOf returns how a protocol is read; an unknown one is read as claude.
func wireOf(p hook.Protocol) *wire {
	if w, ok := wires[p]; ok {
		return w
	}
	return &claudeWire
}
