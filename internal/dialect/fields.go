package dialect

import (
	"strings"
	"sync"

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

// wanted is the JSON type that a field wants, as messages say it.
type wanted string

const (
	wantAny     wanted = "a value"
	wantString  wanted = "a string"
	wantBool    wanted = "true or false"
	wantNumber  wanted = "a number"
	wantObject  wanted = "an object"
	wantList    wanted = "a list"
	wantStrings wanted = "a list of strings"
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
	wants  wanted
	counts hook.FieldSet
}

// fieldTable is the one place that knows the fields of answers. The first
// three places follow the public hooks reference of Claude Code.
var fieldTable = [fieldCount]field{
	fContinue:         {atTop, "continue", wantBool, hook.FieldContinue},
	fStopReason:       {atTop, "stopReason", wantString, 0},
	fSuppressOutput:   {atTop, "suppressOutput", wantBool, 0},
	fSystemMessage:    {atTop, "systemMessage", wantString, hook.FieldSystemMessage},
	fTerminalSequence: {atTop, "terminalSequence", wantString, hook.FieldTerminal},
	fDecision:         {atTop, "decision", wantString, 0},
	fReason:           {atTop, "reason", wantString, 0},
	fAsync:            {atTop, "async", wantBool, 0},
	fAsyncTimeout:     {atTop, "asyncTimeout", wantNumber, 0},
	fSpecific:         {atTop, "hookSpecificOutput", wantObject, 0},

	fEventName:         {atSpecific, "hookEventName", wantString, 0},
	fPermission:        {atSpecific, "permissionDecision", wantString, hook.FieldPermission},
	fPermissionReason:  {atSpecific, "permissionDecisionReason", wantString, hook.FieldPermission},
	fUpdatedInput:      {atSpecific, "updatedInput", wantObject, hook.FieldUpdatedInput},
	fContext:           {atSpecific, "additionalContext", wantString, hook.FieldContext},
	fUpdatedToolOutput: {atSpecific, "updatedToolOutput", wantAny, hook.FieldToolOutput},
	fUpdatedMCPOutput:  {atSpecific, "updatedMCPToolOutput", wantAny, hook.FieldToolOutput},
	fRetry:             {atSpecific, "retry", wantBool, hook.FieldRetry},
	fInitialMessage:    {atSpecific, "initialUserMessage", wantString, hook.FieldInitialMessage},
	fSessionTitle:      {atSpecific, "sessionTitle", wantString, hook.FieldSessionTitle},
	fWatchPaths:        {atSpecific, "watchPaths", wantStrings, hook.FieldWatchPaths},
	fSuppressPrompt:    {atSpecific, "suppressOriginalPrompt", wantBool, hook.FieldSuppressPrompt},
	fDisplay:           {atSpecific, "displayContent", wantString, hook.FieldDisplay},
	fElicitation:       {atSpecific, "action", wantString, hook.FieldElicitation},
	fContent:           {atSpecific, "content", wantObject, hook.FieldElicitation},
	fWorktreePath:      {atSpecific, "worktreePath", wantString, hook.FieldWorktreePath},
	fRequest:           {atSpecific, "decision", wantObject, hook.FieldRequest},

	fBehavior:           {atRequest, "behavior", wantString, 0},
	fRequestInput:       {atRequest, "updatedInput", wantObject, 0},
	fRequestPermissions: {atRequest, "updatedPermissions", wantList, 0},
	fMessage:            {atRequest, "message", wantString, 0},
	fInterrupt:          {atRequest, "interrupt", wantBool, 0},

	fAction:       {atMoltis, "action", wantString, 0},
	fData:         {atMoltis, "data", wantAny, 0},
	fActionReason: {atMoltis, "reason", wantString, 0},

	fOK:          {atModel, "ok", wantBool, 0},
	fModelReason: {atModel, "reason", wantString, 0},
	fImpossible:  {atModel, "impossible", wantBool, 0},
}

// fieldIndex finds a place's fields by both spellings of their keys.
var fieldIndex = sync.OnceValue(func() (index [placeCount]map[string]fieldID) {
	for at := range index {
		index[at] = make(map[string]fieldID)
	}
	for id := range fieldCount {
		f := fieldTable[id]
		index[f.at][f.key] = id
		index[f.at][snakeCase(f.key)] = id
	}
	return index
})

// placeKeys lists a place's keys in both spellings, in the table's order.
var placeKeys = sync.OnceValue(func() (keys [placeCount][]string) {
	for _, f := range fieldTable {
		keys[f.at] = append(keys[f.at], f.key)
		if snake := snakeCase(f.key); snake != f.key {
			keys[f.at] = append(keys[f.at], snake)
		}
	}
	return keys
})

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
