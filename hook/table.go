package hook

import "time"

const (
	fieldsDecide = fieldsUniversal | FieldContext
)

// eventTable is the one place that knows events. The rows follow the public
// hooks reference of Claude Code, the last two older hosts.
var eventTable = []EventInfo{
	{Event: EventSessionStart, Doc: "a session begins or resumes", MatcherField: "source",
		Stderr: ToUser, Plain: PlainContext, asks: reachLocal,
		Fields: fieldsDecide | FieldInitialMessage | FieldSessionTitle | FieldWatchPaths},
	{Event: EventSetup, Doc: "the host prepares or maintains a workspace", MatcherField: "trigger",
		asks: reachLocal},
	{Event: EventInstructionsLoaded, Doc: "an instructions file was read", MatcherField: "load_reason",
		asks: reachRemote},
	{Event: EventUserPromptSubmit, Doc: "a person sent a prompt", Block: BlockAction, Stderr: ToUser,
		BlockField: true, Plain: PlainContext, asks: reachAgents, timeout: 30 * time.Second,
		Fields: fieldsDecide | FieldSessionTitle | FieldSuppressPrompt},
	{Event: EventUserPromptExpansion, Doc: "a command expands into a prompt", MatcherField: "command_name",
		Block: BlockAction, Stderr: ToUser, BlockField: true, Plain: PlainContext, asks: reachAgents,
		Fields: fieldsDecide},
	{Event: EventMessageDisplay, Doc: "a part of a message is about to be shown", asks: reachRemote,
		Fields: FieldDisplay, timeout: 10 * time.Second},
	{Event: EventPreToolUse, Doc: "a tool is about to run", MatcherField: "tool_name", TakesIf: true,
		Block: BlockAction, Stderr: ToModel, BlockField: true, asks: reachAgents,
		Fields: fieldsDecide | FieldPermission | FieldUpdatedInput},
	{Event: EventPermissionRequest, Doc: "a person would be asked for a permission", MatcherField: "tool_name",
		TakesIf: true, Block: BlockAction, NoExit2: true, asks: reachModels, Fields: fieldsUniversal | FieldRequest},
	{Event: EventPermissionDenied, Doc: "a tool call was denied", MatcherField: "tool_name", TakesIf: true,
		asks: reachAgents, Fields: FieldRetry},
	{Event: EventPostToolUse, Doc: "a tool has run", MatcherField: "tool_name", TakesIf: true,
		Block: BlockFeedback, Stderr: ToModel, BlockField: true, asks: reachAgents,
		Fields: fieldsDecide | FieldToolOutput},
	{Event: EventPostToolUseFailure, Doc: "a tool has failed", MatcherField: "tool_name", TakesIf: true,
		Block: BlockFeedback, Stderr: ToModel, BlockField: true, asks: reachAgents, Fields: fieldsDecide},
	{Event: EventPostToolBatch, Doc: "all tools of a turn have run", Block: BlockLoop, Stderr: ToModel,
		BlockField: true, asks: reachAgents, Fields: FieldContinue | FieldContext},
	{Event: EventNotification, Doc: "the host notifies a person", MatcherField: "notification_type",
		asks: reachRemote, Fields: FieldTerminal},
	{Event: EventSubagentStart, Doc: "a subagent begins", MatcherField: "agent_type", asks: reachRemote,
		Fields: fieldsDecide},
	{Event: EventSubagentStop, Doc: "a subagent is about to stop", MatcherField: "agent_type",
		Block: BlockStop, Stderr: ToModel, BlockField: true, NoPolicy: true, asks: reachAgents, Fields: fieldsDecide},
	{Event: EventTaskCreated, Doc: "a task was created", Block: BlockAction, Stderr: ToModel,
		BlockField: true, asks: reachAgents},
	{Event: EventTaskCompleted, Doc: "a task is about to be completed", Block: BlockAction, Stderr: ToModel,
		NoPolicy: true, asks: reachAgents, Fields: FieldContinue},
	{Event: EventStop, Doc: "the agent is about to stop", Block: BlockStop, Stderr: ToModel,
		BlockField: true, NoPolicy: true, asks: reachAgents, Fields: fieldsDecide},
	{Event: EventStopFailure, Doc: "a turn ended with an error", MatcherField: "error", NarrowMatcher: true,
		asks: reachRemote, Fields: FieldTerminal},
	{Event: EventTeammateIdle, Doc: "a teammate is about to go idle", Block: BlockStop, Stderr: ToModel,
		NoPolicy: true, asks: reachAgents, Fields: FieldContinue},
	{Event: EventConfigChange, Doc: "a settings file changed", MatcherField: "source", Block: BlockAction,
		Stderr: ToUser, BlockField: true, asks: reachRemote},
	{Event: EventCwdChanged, Doc: "the working directory changed", asks: reachRemote,
		Fields: FieldWatchPaths | FieldSystemMessage},
	{Event: EventDirectoryAdded, Doc: "a directory was added to the workspace", MatcherField: "source",
		asks: reachRemote, Fields: FieldSystemMessage},
	{Event: EventFileChanged, Doc: "a watched file changed", MatcherField: "file_path", NarrowMatcher: true,
		asks: reachRemote, Fields: FieldWatchPaths | FieldSystemMessage},
	{Event: EventWorktreeCreate, Doc: "a worktree is to be made", Block: BlockAction, Stderr: ToUser,
		AnyExit: true, Plain: PlainPath, asks: reachRemote, Fields: FieldWorktreePath},
	{Event: EventWorktreeRemove, Doc: "a worktree is to be removed", Block: BlockAction, Stderr: ToUser,
		AnyExit: true, asks: reachRemote},
	{Event: EventPreCompact, Doc: "the context is about to be compacted", MatcherField: "trigger",
		Block: BlockAction, Stderr: ToUser, BlockField: true, asks: reachRemote},
	{Event: EventPostCompact, Doc: "the context was compacted", MatcherField: "trigger", asks: reachRemote},
	{Event: EventPreModelSwitch, Doc: "the model is about to change", MatcherField: "to_model",
		Block: BlockAction, Stderr: ToUser, BlockField: true, OnTimeout: true, asks: reachRemote,
		Fields: FieldPermission, timeout: 30 * time.Second},
	{Event: EventPostModelSwitch, Doc: "the model changed", MatcherField: "to_model", Plain: PlainContext,
		asks: reachRemote, Fields: FieldContext, timeout: 30 * time.Second},
	{Event: EventElicitation, Doc: "an MCP server asks a person for input", MatcherField: "mcp_server_name",
		Block: BlockAction, Stderr: ToUser, asks: reachRemote, Fields: FieldElicitation},
	{Event: EventElicitationResult, Doc: "a person answered an MCP server", MatcherField: "mcp_server_name",
		Block: BlockAction, Stderr: ToUser, asks: reachRemote, Fields: FieldElicitation},
	{Event: EventSessionEnd, Doc: "a session ends", MatcherField: "reason", Stderr: ToUser, asks: reachRemote},
	{Event: EventStatusLine, Doc: "the host draws its status line", Plain: PlainResult, asks: reachCommands, Legacy: true},
	{Event: EventFileSuggestion, Doc: "the host completes a file name", Plain: PlainResult, asks: reachCommands, Legacy: true},
}

var eventIndex = func() map[Event]*EventInfo {
	index := make(map[Event]*EventInfo, len(eventTable))
	for i := range eventTable {
		index[eventTable[i].Event] = &eventTable[i]
	}
	return index
}()

// Lookup returns an event's row, and false for an event that the table does
// not know. The row is shared: do not change it.
func Lookup(ev Event) (*EventInfo, bool) {
	info, ok := eventIndex[ev]
	return info, ok
}

// Events returns the table's rows in its order.
func Events() []EventInfo { return append([]EventInfo(nil), eventTable...) }

// custom is the row of an event that the table does not know: nothing can
// block it, any kind can answer it, and the universal fields count.
var custom = EventInfo{Doc: "an event of the host's own", asks: reachAgents, Fields: fieldsDecide}

// Info returns an event's row, or for an unknown event the row of all such.
func Info(ev Event) *EventInfo {
	if info, ok := eventIndex[ev]; ok {
		return info
	}
	return &custom
}
