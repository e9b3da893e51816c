package dialect

import (
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// place is the object of an answer that a field stands in.
type place uint8

const (
	atTop      place = iota // the answer itself
	atSpecific              // its hookSpecificOutput
	atRequest               // the decision in that, of a PermissionRequest
	atMoltis                // an answer of moltis
	atModel                 // an answer of a model
	placeCount
)

var placeNames = [placeCount]string{
	atTop: "the answer", atSpecific: "hookSpecificOutput", atRequest: "hookSpecificOutput.decision",
	atMoltis: "the answer", atModel: "the answer",
}

// kind is the JSON type that a field wants.
type kind string

const (
	anything kind = "a value"
	text     kind = "a string"
	boolean  kind = "true or false"
	number   kind = "a number"
	object   kind = "an object"
	list     kind = "a list"
	texts    kind = "a list of strings"
)

// fieldID numbers the fields, those of one place without a gap.
type fieldID uint8

const (
	fContinue fieldID = iota
	fStopReason
	fSuppressOutput
	fSystemMessage
	fTerminalSequence
	fDecision
	fReason
	fAsync
	fAsyncTimeout
	fSpecific

	fEventName
	fPermission
	fPermissionReason
	fUpdatedInput
	fContext
	fUpdatedToolOutput
	fUpdatedMCPOutput
	fRetry
	fInitialMessage
	fSessionTitle
	fWatchPaths
	fSuppressPrompt
	fDisplay
	fElicitation
	fContent
	fWorktreePath
	fRequest

	fBehavior
	fRequestInput
	fRequestPermissions
	fMessage
	fInterrupt

	fAction
	fData
	fActionReason

	fOK
	fModelReason
	fImpossible
	fieldCount
)

// field is one field of an answer: where it stands, what it is called, and
// which events it counts on (0 = it says itself, or on all).
type field struct {
	at     place
	key    string
	wants  kind
	counts hook.FieldSet
}

// fieldTable is the one place that knows the fields of answers. The first
// three places follow the public hooks reference of Claude Code.
var fieldTable = [fieldCount]field{
	fContinue:         {atTop, "continue", boolean, hook.FieldContinue},
	fStopReason:       {atTop, "stopReason", text, 0},
	fSuppressOutput:   {atTop, "suppressOutput", boolean, 0},
	fSystemMessage:    {atTop, "systemMessage", text, hook.FieldSystemMessage},
	fTerminalSequence: {atTop, "terminalSequence", text, hook.FieldTerminal},
	fDecision:         {atTop, "decision", text, 0},
	fReason:           {atTop, "reason", text, 0},
	fAsync:            {atTop, "async", boolean, 0},
	fAsyncTimeout:     {atTop, "asyncTimeout", number, 0},
	fSpecific:         {atTop, "hookSpecificOutput", object, 0},

	fEventName:         {atSpecific, "hookEventName", text, 0},
	fPermission:        {atSpecific, "permissionDecision", text, hook.FieldPermission},
	fPermissionReason:  {atSpecific, "permissionDecisionReason", text, hook.FieldPermission},
	fUpdatedInput:      {atSpecific, "updatedInput", object, hook.FieldUpdatedInput},
	fContext:           {atSpecific, "additionalContext", text, hook.FieldContext},
	fUpdatedToolOutput: {atSpecific, "updatedToolOutput", anything, hook.FieldToolOutput},
	fUpdatedMCPOutput:  {atSpecific, "updatedMCPToolOutput", anything, hook.FieldToolOutput},
	fRetry:             {atSpecific, "retry", boolean, hook.FieldRetry},
	fInitialMessage:    {atSpecific, "initialUserMessage", text, hook.FieldInitialMessage},
	fSessionTitle:      {atSpecific, "sessionTitle", text, hook.FieldSessionTitle},
	fWatchPaths:        {atSpecific, "watchPaths", texts, hook.FieldWatchPaths},
	fSuppressPrompt:    {atSpecific, "suppressOriginalPrompt", boolean, hook.FieldSuppressPrompt},
	fDisplay:           {atSpecific, "displayContent", text, hook.FieldDisplay},
	fElicitation:       {atSpecific, "action", text, hook.FieldElicitation},
	fContent:           {atSpecific, "content", object, hook.FieldElicitation},
	fWorktreePath:      {atSpecific, "worktreePath", text, hook.FieldWorktreePath},
	fRequest:           {atSpecific, "decision", object, hook.FieldRequest},

	fBehavior:           {atRequest, "behavior", text, 0},
	fRequestInput:       {atRequest, "updatedInput", object, 0},
	fRequestPermissions: {atRequest, "updatedPermissions", list, 0},
	fMessage:            {atRequest, "message", text, 0},
	fInterrupt:          {atRequest, "interrupt", boolean, 0},

	fAction:       {atMoltis, "action", text, 0},
	fData:         {atMoltis, "data", anything, 0},
	fActionReason: {atMoltis, "reason", text, 0},

	fOK:          {atModel, "ok", boolean, 0},
	fModelReason: {atModel, "reason", text, 0},
	fImpossible:  {atModel, "impossible", boolean, 0},
}

// fieldIndex finds a place's fields by both spellings of their keys.
var fieldIndex = func() (index [placeCount]map[string]fieldID) {
	for at := range index {
		index[at] = make(map[string]fieldID)
	}
	for id := range fieldCount {
		f := fieldTable[id]
		index[f.at][f.key] = id
		index[f.at][snakeCase(f.key)] = id
	}
	return index
}()

// placeKeys lists a place's keys in both spellings, in the table's order.
var placeKeys = func() (keys [placeCount][]string) {
	for _, f := range fieldTable {
		keys[f.at] = append(keys[f.at], f.key)
		if snake := snakeCase(f.key); snake != f.key {
			keys[f.at] = append(keys[f.at], snake)
		}
	}
	return keys
}()

// firstField is where a place's fields begin in the table.
var firstField = [placeCount]fieldID{
	atTop: fContinue, atSpecific: fEventName, atRequest: fBehavior, atMoltis: fAction, atModel: fOK,
}

// snakeCase spells a camelCase key as starpod does: updatedMCPToolOutput is
// updated_mcp_tool_output.
func snakeCase(key string) string {
	isUpper := func(i int) bool { return i < len(key) && key[i] >= 'A' && key[i] <= 'Z' }
	var b strings.Builder
	for i := range len(key) {
		if !isUpper(i) {
			b.WriteByte(key[i])
			continue
		}
		if i > 0 && (!isUpper(i-1) || i+1 < len(key) && !isUpper(i+1)) {
			b.WriteByte('_')
		}
		b.WriteByte(key[i] - 'A' + 'a')
	}
	return b.String()
}
