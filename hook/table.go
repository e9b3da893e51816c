package hook

const (
	fieldsDecide = fieldsUniversal | FieldContext
)

var (
	kindsAll     = []Kind{KindCommand, KindHTTP, KindMCP, KindPrompt, KindAgent, KindRule}
	kindsNoAgent = []Kind{KindCommand, KindHTTP, KindMCP, KindPrompt, KindRule}
	kindsRemote  = []Kind{KindCommand, KindHTTP, KindMCP, KindRule}
	kindsStart   = []Kind{KindCommand, KindMCP, KindRule}
	kindsLegacy  = []Kind{KindCommand}
)

// eventTable is the one place that knows events. The rows follow the public
// hooks reference of Claude Code, the last two older hosts.
var eventTable = []EventInfo{
	{Event: EventSessionStart, Doc: "a session begins or resumes", MatcherField: "source",
		Stderr: ToUser, Plain: PlainContext, Kinds: kindsStart,
		Fields: fieldsDecide | FieldInitialMessage | FieldSessionTitle | FieldWatchPaths},
	{Event: EventSetup, Doc: "the host prepares or maintains a workspace", MatcherField: "trigger",
		Kinds: kindsStart},
	{Event: EventInstructionsLoaded, Doc: "an instructions file was read", MatcherField: "load_reason",
		Kinds: kindsRemote},
	{Event: EventUserPromptSubmit, Doc: "a person sent a prompt", Block: BlockAction, Stderr: ToUser,
		BlockField: true, Plain: PlainContext, Kinds: kindsAll, timeout: timeoutPrompt,
		Fields: fieldsDecide | FieldSessionTitle | FieldSuppressPrompt},
	{Event: EventUserPromptExpansion, Doc: "a command expands into a prompt", MatcherField: "command_name",
		Block: BlockAction, Stderr: ToUser, BlockField: true, Plain: PlainContext, Kinds: kindsAll,
		Fields: fieldsDecide},
	{Event: EventMessageDisplay, Doc: "a part of a message is about to be shown", Kinds: kindsRemote,
		Fields: FieldDisplay, timeout: timeoutDisplay},
	{Event: EventPreToolUse, Doc: "a tool is about to run", MatcherField: "tool_name", TakesIf: true,
		Block: BlockAction, Stderr: ToModel, BlockField: true, Kinds: kindsAll,
		Fields: fieldsDecide | FieldPermission | FieldUpdatedInput},
	{Event: EventPermissionRequest, Doc: "a person would be asked for a permission", MatcherField: "tool_name",
		TakesIf: true, Block: BlockAction, NoExit2: true, Kinds: kindsNoAgent, Fields: fieldsUniversal | FieldRequest},
	{Event: EventPermissionDenied, Doc: "a tool call was denied", MatcherField: "tool_name", TakesIf: true,
		Kinds: kindsAll, Fields: FieldRetry},
	{Event: EventPostToolUse, Doc: "a tool has run", MatcherField: "tool_name", TakesIf: true,
		Block: BlockFeedback, Stderr: ToModel, BlockField: true, Kinds: kindsAll,
		Fields: fieldsDecide | FieldToolOutput},
	{Event: EventPostToolUseFailure, Doc: "a tool has failed", MatcherField: "tool_name", TakesIf: true,
		Block: BlockFeedback, Stderr: ToModel, BlockField: true, Kinds: kindsAll, Fields: fieldsDecide},
	{Event: EventPostToolBatch, Doc: "all tools of a turn have run", Block: BlockLoop, Stderr: ToModel,
		BlockField: true, Kinds: kindsAll, Fields: FieldContinue | FieldContext},
	{Event: EventNotification, Doc: "the host notifies a person", MatcherField: "notification_type",
		Kinds: kindsRemote, Fields: FieldTerminal},
	{Event: EventSubagentStart, Doc: "a subagent begins", MatcherField: "agent_type", Kinds: kindsRemote,
		Fields: fieldsDecide},
	{Event: EventSubagentStop, Doc: "a subagent is about to stop", MatcherField: "agent_type",
		Block: BlockStop, Stderr: ToModel, BlockField: true, NoPolicy: true, Kinds: kindsAll, Fields: fieldsDecide},
	{Event: EventTaskCreated, Doc: "a task was created", Block: BlockAction, Stderr: ToModel,
		BlockField: true, Kinds: kindsAll},
	{Event: EventTaskCompleted, Doc: "a task is about to be completed", Block: BlockAction, Stderr: ToModel,
		NoPolicy: true, Kinds: kindsAll, Fields: FieldContinue},
	{Event: EventStop, Doc: "the agent is about to stop", Block: BlockStop, Stderr: ToModel,
		BlockField: true, NoPolicy: true, Kinds: kindsAll, Fields: fieldsDecide},
	{Event: EventStopFailure, Doc: "a turn ended with an error", MatcherField: "error", NarrowMatcher: true,
		Kinds: kindsRemote, Fields: FieldTerminal},
	{Event: EventTeammateIdle, Doc: "a teammate is about to go idle", Block: BlockStop, Stderr: ToModel,
		NoPolicy: true, Kinds: kindsAll, Fields: FieldContinue},
	{Event: EventConfigChange, Doc: "a settings file changed", MatcherField: "source", Block: BlockAction,
		Stderr: ToUser, BlockField: true, Kinds: kindsRemote},
	{Event: EventCwdChanged, Doc: "the working directory changed", Kinds: kindsRemote,
		Fields: FieldWatchPaths | FieldSystemMessage},
	{Event: EventDirectoryAdded, Doc: "a directory was added to the workspace", MatcherField: "source",
		Kinds: kindsRemote, Fields: FieldSystemMessage},
	{Event: EventFileChanged, Doc: "a watched file changed", MatcherField: "file_path", NarrowMatcher: true,
		Kinds: kindsRemote, Fields: FieldWatchPaths | FieldSystemMessage},
	{Event: EventWorktreeCreate, Doc: "a worktree is to be made", Block: BlockAction, Stderr: ToUser,
		AnyExit: true, Plain: PlainPath, Kinds: kindsRemote, Fields: FieldWorktreePath},
	{Event: EventWorktreeRemove, Doc: "a worktree is to be removed", Block: BlockAction, Stderr: ToUser,
		AnyExit: true, Kinds: kindsRemote},
	{Event: EventPreCompact, Doc: "the context is about to be compacted", MatcherField: "trigger",
		Block: BlockAction, Stderr: ToUser, BlockField: true, Kinds: kindsRemote},
	{Event: EventPostCompact, Doc: "the context was compacted", MatcherField: "trigger", Kinds: kindsRemote},
	{Event: EventPreModelSwitch, Doc: "the model is about to change", MatcherField: "to_model",
		Block: BlockAction, Stderr: ToUser, BlockField: true, OnTimeout: true, Kinds: kindsRemote,
		Fields: FieldPermission, timeout: timeoutPrompt},
	{Event: EventPostModelSwitch, Doc: "the model changed", MatcherField: "to_model", Plain: PlainContext,
		Kinds: kindsRemote, Fields: FieldContext, timeout: timeoutPrompt},
	{Event: EventElicitation, Doc: "an MCP server asks a person for input", MatcherField: "mcp_server_name",
		Block: BlockAction, Stderr: ToUser, Kinds: kindsRemote, Fields: FieldElicitation},
	{Event: EventElicitationResult, Doc: "a person answered an MCP server", MatcherField: "mcp_server_name",
		Block: BlockAction, Stderr: ToUser, Kinds: kindsRemote, Fields: FieldElicitation},
	{Event: EventSessionEnd, Doc: "a session ends", MatcherField: "reason", Stderr: ToUser, Kinds: kindsRemote},
	{Event: EventStatusLine, Doc: "the host draws its status line", Plain: PlainResult, Kinds: kindsLegacy, Legacy: true},
	{Event: EventFileSuggestion, Doc: "the host completes a file name", Plain: PlainResult, Kinds: kindsLegacy, Legacy: true},
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
var custom = EventInfo{Doc: "an event of the host's own", Kinds: kindsAll, Fields: fieldsDecide}

// Info returns an event's row, or for an unknown event the row of all such.
func Info(ev Event) *EventInfo {
	if info, ok := eventIndex[ev]; ok {
		return info
	}
	return &custom
}
