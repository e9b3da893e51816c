package hook

import (
	"path"
	"strings"
)

// Each input says which event it is, and what a matcher tests of it.

// Event names the event.
func (SessionStart) Event() Event { return EventSessionStart }

// Event names the event.
func (Setup) Event() Event { return EventSetup }

// Event names the event.
func (InstructionsLoaded) Event() Event { return EventInstructionsLoaded }

// Event names the event.
func (UserPromptSubmit) Event() Event { return EventUserPromptSubmit }

// Event names the event.
func (UserPromptExpansion) Event() Event { return EventUserPromptExpansion }

// Event names the event.
func (MessageDisplay) Event() Event { return EventMessageDisplay }

// Event names the event.
func (PreToolUse) Event() Event { return EventPreToolUse }

// Event names the event.
func (PermissionRequest) Event() Event { return EventPermissionRequest }

// Event names the event.
func (PermissionDenied) Event() Event { return EventPermissionDenied }

// Event names the event.
func (PostToolUse) Event() Event { return EventPostToolUse }

// Event names the event.
func (PostToolUseFailure) Event() Event { return EventPostToolUseFailure }

// Event names the event.
func (PostToolBatch) Event() Event { return EventPostToolBatch }

// Event names the event.
func (Notification) Event() Event { return EventNotification }

// Event names the event.
func (SubagentStart) Event() Event { return EventSubagentStart }

// Event names the event.
func (SubagentStop) Event() Event { return EventSubagentStop }

// Event names the event.
func (TaskCreated) Event() Event { return EventTaskCreated }

// Event names the event.
func (TaskCompleted) Event() Event { return EventTaskCompleted }

// Event names the event.
func (Stop) Event() Event { return EventStop }

// Event names the event.
func (StopFailure) Event() Event { return EventStopFailure }

// Event names the event.
func (TeammateIdle) Event() Event { return EventTeammateIdle }

// Event names the event.
func (ConfigChange) Event() Event { return EventConfigChange }

// Event names the event.
func (CwdChanged) Event() Event { return EventCwdChanged }

// Event names the event.
func (DirectoryAdded) Event() Event { return EventDirectoryAdded }

// Event names the event.
func (FileChanged) Event() Event { return EventFileChanged }

// Event names the event.
func (WorktreeCreate) Event() Event { return EventWorktreeCreate }

// Event names the event.
func (WorktreeRemove) Event() Event { return EventWorktreeRemove }

// Event names the event.
func (PreCompact) Event() Event { return EventPreCompact }

// Event names the event.
func (PostCompact) Event() Event { return EventPostCompact }

// Event names the event.
func (PreModelSwitch) Event() Event { return EventPreModelSwitch }

// Event names the event.
func (PostModelSwitch) Event() Event { return EventPostModelSwitch }

// Event names the event.
func (Elicitation) Event() Event { return EventElicitation }

// Event names the event.
func (ElicitationResult) Event() Event { return EventElicitationResult }

// Event names the event.
func (SessionEnd) Event() Event { return EventSessionEnd }

// Event names the event.
func (StatusLine) Event() Event { return EventStatusLine }

// Event names the event.
func (FileSuggestion) Event() Event { return EventFileSuggestion }

// Event names the event.
func (in Custom) Event() Event { return in.Name }

func (in SessionStart) subject() string        { return in.Source }
func (in Setup) subject() string               { return in.Trigger }
func (in InstructionsLoaded) subject() string  { return in.LoadReason }
func (UserPromptSubmit) subject() string       { return "" }
func (in UserPromptExpansion) subject() string { return in.CommandName }
func (MessageDisplay) subject() string         { return "" }
func (in PreToolUse) subject() string          { return in.ToolName }
func (in PermissionRequest) subject() string   { return in.ToolName }
func (in PermissionDenied) subject() string    { return in.ToolName }
func (in PostToolUse) subject() string         { return in.ToolName }
func (in PostToolUseFailure) subject() string  { return in.ToolName }
func (PostToolBatch) subject() string          { return "" }
func (in Notification) subject() string        { return in.NotificationType }
func (in SubagentStart) subject() string       { return in.AgentType }
func (in SubagentStop) subject() string        { return in.AgentType }
func (TaskCreated) subject() string            { return "" }
func (TaskCompleted) subject() string          { return "" }
func (Stop) subject() string                   { return "" }
func (in StopFailure) subject() string         { return in.Error }
func (TeammateIdle) subject() string           { return "" }
func (in ConfigChange) subject() string        { return in.Source }
func (CwdChanged) subject() string             { return "" }
func (in DirectoryAdded) subject() string      { return in.Source }
func (in FileChanged) subject() string         { return path.Base(slashed(in.FilePath)) }
func (WorktreeCreate) subject() string         { return "" }
func (WorktreeRemove) subject() string         { return "" }
func (in PreCompact) subject() string          { return in.Trigger }
func (in PostCompact) subject() string         { return in.Trigger }
func (in PreModelSwitch) subject() string      { return in.ToModel }
func (in PostModelSwitch) subject() string     { return in.ToModel }
func (in Elicitation) subject() string         { return in.MCPServerName }
func (in ElicitationResult) subject() string   { return in.MCPServerName }
func (in SessionEnd) subject() string          { return in.Reason }
func (StatusLine) subject() string             { return "" }
func (FileSuggestion) subject() string         { return "" }
func (Custom) subject() string                 { return "" }

// The tool call of an event that is about one.

func (in PreToolUse) toolCall() ToolCall {
	return ToolCall{ToolName: in.ToolName, ToolInput: in.ToolInput, ToolUseID: in.ToolUseID}
}

func (in PermissionRequest) toolCall() ToolCall {
	return ToolCall{ToolName: in.ToolName, ToolInput: in.ToolInput}
}

func (in PermissionDenied) toolCall() ToolCall {
	return ToolCall{ToolName: in.ToolName, ToolInput: in.ToolInput, ToolUseID: in.ToolUseID}
}

func (in PostToolUse) toolCall() ToolCall {
	return ToolCall{ToolName: in.ToolName, ToolInput: in.ToolInput, ToolUseID: in.ToolUseID, ToolResponse: in.ToolResponse}
}

func (in PostToolUseFailure) toolCall() ToolCall {
	return ToolCall{ToolName: in.ToolName, ToolInput: in.ToolInput, ToolUseID: in.ToolUseID}
}

// slashed makes a Windows path readable to path.Base.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }
