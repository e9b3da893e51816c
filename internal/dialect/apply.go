package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// checkEventName drops hookSpecificOutput unless it names the event: a hook
// that serves several events would otherwise answer one with the words of
// another.
func (x *reading) checkEventName() {
	if !x.hasAny(fPermission, fInterrupt) || !x.has(fEventName) && x.wire.nameOptional {
		return
	}
	name := x.text(fEventName)
	if x.isEvent(name) {
		return
	}
	hint := `write "hookEventName": ` + phrase.Quote(string(x.event))
	if x.has(fEventName) {
		x.refuse("hookSpecificOutput is for "+phrase.Quote(name)+", the event is "+string(x.event), hint)
	} else {
		x.refuse("hookSpecificOutput does not count without its hookEventName", hint)
	}
	clear(x.answer[fPermission : fInterrupt+1])
}

// hasAny reports whether one of the fields from first to last has a value.
func (x *reading) hasAny(first, last fieldID) bool {
	for id := first; id <= last; id++ {
		if x.has(id) {
			return true
		}
	}
	return false
}

// applyFields applies what decides nothing about the action, and drops, but
// never in silence, what has no effect on the event.
func (x *reading) applyFields() {
	x.dropIneffective()
	o := &x.out
	if x.has(fContinue) && !x.flag(fContinue) {
		o.Stop, o.StopReason = true, x.capped(fStopReason)
		if o.StopReason == "" {
			o.StopReason = shortReason(x.ownReason())
		}
	}
	o.SuppressOutput = x.flag(fSuppressOutput)
	o.SystemMessage = x.capped(fSystemMessage)
	o.TerminalSequence = x.terminalSequence()
	o.Context = x.capped(fContext)
	o.InitialUserMessage = x.capped(fInitialMessage)
	o.SessionTitle = x.text(fSessionTitle)
	o.SuppressOriginalPrompt = x.flag(fSuppressPrompt)
	o.Retry = x.flag(fRetry)
	o.WorktreePath = strings.TrimSpace(x.text(fWorktreePath))
	o.UpdatedInput = x.raw(fUpdatedInput)
	o.UpdatedToolOutput = x.toolOutput()
	if x.has(fWatchPaths) {
		o.WatchPaths, _ = stringsOf(x.answer[fWatchPaths])
	}
	if x.has(fDisplay) {
		display := x.text(fDisplay)
		o.DisplayContent = &display
	}
}

// dropIneffective drops the fields that do not count on the event. A field that
// decides or rewrites is a failure: what its author relies on does not happen.
func (x *reading) dropIneffective() {
	for id := range fieldCount {
		f := &fieldTable[id]
		if !x.has(id) || f.counts == 0 || x.info.Fields.Has(f.counts) {
			continue
		}
		what := f.key + " has no effect on " + string(x.event)
		switch {
		case decisive[id], id == fRequest, id == fElicitation:
			x.refuse(what, x.howToBlock())
		case id == fContinue:
			if !x.flag(id) {
				x.refuse("continue: false has no effect on "+string(x.event), x.howToBlock())
			}
		case string(x.answer[id]) != "false":
			x.call.Warn("ignored_field", what, "")
		}
		x.answer[id] = nil
	}
}

// toolOutput is what replaces a tool's response. The older field counts for
// the tools of MCP servers alone.
func (x *reading) toolOutput() json.RawMessage {
	if x.has(fUpdatedMCPOutput) {
		call, _ := hook.ToolCallOf(x.call.Input)
		isMCP := strings.HasPrefix(call.ToolName, "mcp__")
		message := "updatedMCPToolOutput is deprecated"
		if !isMCP {
			message = "updatedMCPToolOutput counts only for tools of MCP servers"
		}
		x.call.Warn("deprecated_field", message, "write updatedToolOutput")
		if isMCP && !x.has(fUpdatedToolOutput) {
			return x.raw(fUpdatedMCPOutput)
		}
	}
	return x.raw(fUpdatedToolOutput)
}

// raw returns a field's value apart from the text that it was read from.
func (x *reading) raw(id fieldID) json.RawMessage { return bytes.Clone(x.answer[id]) }
