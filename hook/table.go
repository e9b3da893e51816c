package hook

import "time"

const (
	fieldsDecide = fieldsUniversal | FieldContext
)

// The events that hosts fire. See [Events] for what each takes and means.
const (
	EventSessionStart        Event = "SessionStart"
	EventSetup               Event = "Setup"
	EventInstructionsLoaded  Event = "InstructionsLoaded"
	EventUserPromptSubmit    Event = "UserPromptSubmit"
	EventUserPromptExpansion Event = "UserPromptExpansion"
	EventMessageDisplay      Event = "MessageDisplay"
	EventPreToolUse          Event = "PreToolUse"
	EventPermissionRequest   Event = "PermissionRequest"
	EventPermissionDenied    Event = "PermissionDenied"
	EventPostToolUse         Event = "PostToolUse"
	EventPostToolUseFailure  Event = "PostToolUseFailure"
	EventPostToolBatch       Event = "PostToolBatch"
	EventNotification        Event = "Notification"
	EventSubagentStart       Event = "SubagentStart"
	EventSubagentStop        Event = "SubagentStop"
	EventTaskCreated         Event = "TaskCreated"
	EventTaskCompleted       Event = "TaskCompleted"
	EventStop                Event = "Stop"
	EventStopFailure         Event = "StopFailure"
	EventTeammateIdle        Event = "TeammateIdle"
	EventConfigChange        Event = "ConfigChange"
	EventCwdChanged          Event = "CwdChanged"
	EventDirectoryAdded      Event = "DirectoryAdded"
	EventFileChanged         Event = "FileChanged"
	EventWorktreeCreate      Event = "WorktreeCreate"
	EventWorktreeRemove      Event = "WorktreeRemove"
	EventPreCompact          Event = "PreCompact"
	EventPostCompact         Event = "PostCompact"
	EventPreModelSwitch      Event = "PreModelSwitch"
	EventPostModelSwitch     Event = "PostModelSwitch"
	EventElicitation         Event = "Elicitation"
	EventElicitationResult   Event = "ElicitationResult"
	EventSessionEnd          Event = "SessionEnd"
	EventStatusLine          Event = "StatusLine"
	EventFileSuggestion      Event = "FileSuggestion"
)

// eventTable is the one place that knows events. The rows follow the public
// hooks reference of Claude Code, the last two older hosts.
var eventTable = []EventInfo{
	{Event: EventSessionStart, Input: SessionStart{}, Doc: "a session begins or resumes", MatcherField: "source",
		Stderr: ToUser, Plain: PlainContext, asks: reachLocal,
		Fields: fieldsDecide | FieldInitialMessage | FieldSessionTitle | FieldWatchPaths},
	{Event: EventSetup, Input: Setup{}, Doc: "the host prepares or maintains a workspace", MatcherField: "trigger",
		asks: reachLocal},
	{Event: EventInstructionsLoaded, Input: InstructionsLoaded{}, Doc: "an instructions file was read", MatcherField: "load_reason",
		asks: reachRemote},
	{Event: EventUserPromptSubmit, Input: UserPromptSubmit{}, Doc: "a person sent a prompt", Block: BlockAction, Stderr: ToUser,
		BlockField: true, Plain: PlainContext, asks: reachAgents, timeout: 30 * time.Second,
		Fields: fieldsDecide | FieldSessionTitle | FieldSuppressPrompt},
	{Event: EventUserPromptExpansion, Input: UserPromptExpansion{}, Doc: "a command expands into a prompt", MatcherField: "command_name",
		Block: BlockAction, Stderr: ToUser, BlockField: true, Plain: PlainContext, asks: reachAgents,
		Fields: fieldsDecide},
	{Event: EventMessageDisplay, Input: MessageDisplay{}, Doc: "a part of a message is about to be shown", asks: reachRemote,
		Fields: FieldDisplay, timeout: 10 * time.Second},
	{Event: EventPreToolUse, Input: PreToolUse{}, Doc: "a tool is about to run", MatcherField: "tool_name", TakesIf: true,
		Block: BlockAction, Stderr: ToModel, BlockField: true, asks: reachAgents,
		Fields: fieldsDecide | FieldPermission | FieldUpdatedInput},
	{Event: EventPermissionRequest, Input: PermissionRequest{}, Doc: "a person would be asked for a permission", MatcherField: "tool_name",
		TakesIf: true, Block: BlockAction, NoExit2: true, asks: reachModels, Fields: fieldsUniversal | FieldRequest},
	{Event: EventPermissionDenied, Input: PermissionDenied{}, Doc: "a tool call was denied", MatcherField: "tool_name", TakesIf: true,
		asks: reachAgents, Fields: FieldRetry},
	{Event: EventPostToolUse, Input: PostToolUse{}, Doc: "a tool has run", MatcherField: "tool_name", TakesIf: true,
		Block: BlockFeedback, Stderr: ToModel, BlockField: true, asks: reachAgents,
		Fields: fieldsDecide | FieldToolOutput},
	{Event: EventPostToolUseFailure, Input: PostToolUseFailure{}, Doc: "a tool has failed", MatcherField: "tool_name", TakesIf: true,
		Block: BlockFeedback, Stderr: ToModel, BlockField: true, asks: reachAgents, Fields: fieldsDecide},
	{Event: EventPostToolBatch, Input: PostToolBatch{}, Doc: "all tools of a turn have run", Block: BlockLoop, Stderr: ToModel,
		BlockField: true, asks: reachAgents, Fields: FieldContinue | FieldContext},
	{Event: EventNotification, Input: Notification{}, Doc: "the host notifies a person", MatcherField: "notification_type",
		asks: reachRemote, Fields: FieldTerminal},
	{Event: EventSubagentStart, Input: SubagentStart{}, Doc: "a subagent begins", MatcherField: "agent_type", asks: reachRemote,
		Fields: fieldsDecide},
	{Event: EventSubagentStop, Input: SubagentStop{}, Doc: "a subagent is about to stop", MatcherField: "agent_type",
		Block: BlockStop, Stderr: ToModel, BlockField: true, NoPolicy: true, asks: reachAgents, Fields: fieldsDecide},
	{Event: EventTaskCreated, Input: TaskCreated{}, Doc: "a task was created", Block: BlockAction, Stderr: ToModel,
		BlockField: true, asks: reachAgents},
	{Event: EventTaskCompleted, Input: TaskCompleted{}, Doc: "a task is about to be completed", Block: BlockAction, Stderr: ToModel,
		NoPolicy: true, asks: reachAgents, Fields: FieldContinue},
	{Event: EventStop, Input: Stop{}, Doc: "the agent is about to stop", Block: BlockStop, Stderr: ToModel,
		BlockField: true, NoPolicy: true, asks: reachAgents, Fields: fieldsDecide},
	{Event: EventStopFailure, Input: StopFailure{}, Doc: "a turn ended with an error", MatcherField: "error", NarrowMatcher: true,
		asks: reachRemote, Fields: FieldTerminal},
	{Event: EventTeammateIdle, Input: TeammateIdle{}, Doc: "a teammate is about to go idle", Block: BlockStop, Stderr: ToModel,
		NoPolicy: true, asks: reachAgents, Fields: FieldContinue},
	{Event: EventConfigChange, Input: ConfigChange{}, Doc: "a settings file changed", MatcherField: "source", Block: BlockAction,
		Stderr: ToUser, BlockField: true, asks: reachRemote},
	{Event: EventCwdChanged, Input: CwdChanged{}, Doc: "the working directory changed", asks: reachRemote,
		Fields: FieldWatchPaths | FieldSystemMessage},
	{Event: EventDirectoryAdded, Input: DirectoryAdded{}, Doc: "a directory was added to the workspace", MatcherField: "source",
		asks: reachRemote, Fields: FieldSystemMessage},
	{Event: EventFileChanged, Input: FileChanged{}, Doc: "a watched file changed", MatcherField: "file_path", MatcherBase: true, NarrowMatcher: true,
		asks: reachRemote, Fields: FieldWatchPaths | FieldSystemMessage},
	{Event: EventWorktreeCreate, Input: WorktreeCreate{}, Doc: "a worktree is to be made", Block: BlockAction, Stderr: ToUser,
		AnyExit: true, Plain: PlainPath, asks: reachRemote, Fields: FieldWorktreePath},
	{Event: EventWorktreeRemove, Input: WorktreeRemove{}, Doc: "a worktree is to be removed", Block: BlockAction, Stderr: ToUser,
		AnyExit: true, asks: reachRemote},
	{Event: EventPreCompact, Input: PreCompact{}, Doc: "the context is about to be compacted", MatcherField: "trigger",
		Block: BlockAction, Stderr: ToUser, BlockField: true, asks: reachRemote},
	{Event: EventPostCompact, Input: PostCompact{}, Doc: "the context was compacted", MatcherField: "trigger", asks: reachRemote},
	{Event: EventPreModelSwitch, Input: PreModelSwitch{}, Doc: "the model is about to change", MatcherField: "to_model",
		Block: BlockAction, Stderr: ToUser, BlockField: true, OnTimeout: true, asks: reachRemote,
		Fields: FieldPermission, timeout: 30 * time.Second},
	{Event: EventPostModelSwitch, Input: PostModelSwitch{}, Doc: "the model changed", MatcherField: "to_model", Plain: PlainContext,
		asks: reachRemote, Fields: FieldContext, timeout: 30 * time.Second},
	{Event: EventElicitation, Input: Elicitation{}, Doc: "an MCP server asks a person for input", MatcherField: "mcp_server_name",
		Block: BlockAction, Stderr: ToUser, asks: reachRemote, Fields: FieldElicitation},
	{Event: EventElicitationResult, Input: ElicitationResult{}, Doc: "a person answered an MCP server", MatcherField: "mcp_server_name",
		Block: BlockAction, Stderr: ToUser, asks: reachRemote, Fields: FieldElicitation},
	{Event: EventSessionEnd, Input: SessionEnd{}, Doc: "a session ends", MatcherField: "reason", Stderr: ToUser, asks: reachRemote},
	{Event: EventStatusLine, Input: StatusLine{}, Doc: "the host draws its status line", Plain: PlainResult, asks: reachCommands, Legacy: true},
	{Event: EventFileSuggestion, Input: FileSuggestion{}, Doc: "the host completes a file name", Plain: PlainResult, asks: reachCommands, Legacy: true},
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
