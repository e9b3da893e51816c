package hook

import "encoding/json"

// The inputs, in the order of the event table. A field with omitempty is left
// out when it is unknown: a host that does not know a value says nothing.

// SessionStart is fired when a session begins.
type SessionStart struct {
	Base         `json:"-"`
	Source       string `json:"source"` // startup, resume, clear, compact, fork
	Model        string `json:"model,omitempty"`
	SessionTitle string `json:"session_title,omitempty"`
}

// Event names the event.
func (SessionStart) Event() Event { return EventSessionStart }

// Setup is fired when the host prepares or maintains a workspace.
type Setup struct {
	Base    `json:"-"`
	Trigger string `json:"trigger"` // init, maintenance
}

// Event names the event.
func (Setup) Event() Event { return EventSetup }

// InstructionsLoaded is fired when an instructions file was read.
type InstructionsLoaded struct {
	Base            `json:"-"`
	FilePath        string   `json:"file_path"`
	MemoryType      string   `json:"memory_type"`
	LoadReason      string   `json:"load_reason"`
	Globs           []string `json:"globs,omitempty"`
	TriggerFilePath string   `json:"trigger_file_path,omitempty"`
	ParentFilePath  string   `json:"parent_file_path,omitempty"`
}

// Event names the event.
func (InstructionsLoaded) Event() Event { return EventInstructionsLoaded }

// UserPromptSubmit is fired when a person sent a prompt.
type UserPromptSubmit struct {
	Base         `json:"-"`
	Prompt       string `json:"prompt"`
	SessionTitle string `json:"session_title,omitempty"`
}

// Event names the event.
func (UserPromptSubmit) Event() Event { return EventUserPromptSubmit }

// UserPromptExpansion is fired when a command expands into a prompt.
type UserPromptExpansion struct {
	Base          `json:"-"`
	ExpansionType string `json:"expansion_type"`
	CommandName   string `json:"command_name"`
	CommandArgs   string `json:"command_args"`
	CommandSource string `json:"command_source"`
	Prompt        string `json:"prompt"`
}

// Event names the event.
func (UserPromptExpansion) Event() Event { return EventUserPromptExpansion }

// MessageDisplay is fired for each part of a message before it is shown.
type MessageDisplay struct {
	Base      `json:"-"`
	TurnID    string `json:"turn_id"`
	MessageID string `json:"message_id"`
	Index     int    `json:"index"`
	Final     bool   `json:"final"`
	Delta     string `json:"delta"`
}

// Event names the event.
func (MessageDisplay) Event() Event { return EventMessageDisplay }

// MCPServer says which server a tool comes from.
type MCPServer struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// PreToolUse is fired before a tool runs.
type PreToolUse struct {
	Base      `json:"-"`
	ToolName  string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"` // any JSON value, sent as it is
	ToolUseID string          `json:"tool_use_id"`
	MCPServer *MCPServer      `json:"mcp_server,omitempty"`

	// ToolSchema is the tool's JSON Schema, which a rewritten input must
	// satisfy. It is not sent to hooks; nil = Options.ToolSchema is asked.
	ToolSchema json.RawMessage `json:"-"`
}

// Event names the event.
func (PreToolUse) Event() Event { return EventPreToolUse }

// PermissionRequest is fired before a person is asked for a permission.
type PermissionRequest struct {
	Base                  `json:"-"`
	ToolName              string          `json:"tool_name"`
	ToolInput             json.RawMessage `json:"tool_input"`
	PermissionSuggestions json.RawMessage `json:"permission_suggestions,omitempty"`
	MCPServer             *MCPServer      `json:"mcp_server,omitempty"`
}

// Event names the event.
func (PermissionRequest) Event() Event { return EventPermissionRequest }

// PermissionDenied is fired when a tool call was denied.
type PermissionDenied struct {
	Base      `json:"-"`
	ToolName  string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	ToolUseID string          `json:"tool_use_id"`
	Reason    string          `json:"reason"`
}

// Event names the event.
func (PermissionDenied) Event() Event { return EventPermissionDenied }

// PostToolUse is fired after a tool has run.
type PostToolUse struct {
	Base         `json:"-"`
	ToolName     string          `json:"tool_name"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolResponse json.RawMessage `json:"tool_response"`
	ToolUseID    string          `json:"tool_use_id"`
	DurationMS   float64         `json:"duration_ms,omitempty"`
	MCPServer    *MCPServer      `json:"mcp_server,omitempty"`
}

// Event names the event.
func (PostToolUse) Event() Event { return EventPostToolUse }

// PostToolUseFailure is fired after a tool has failed.
type PostToolUseFailure struct {
	Base        `json:"-"`
	ToolName    string          `json:"tool_name"`
	ToolInput   json.RawMessage `json:"tool_input"`
	ToolUseID   string          `json:"tool_use_id"`
	Error       string          `json:"error"`
	IsInterrupt *bool           `json:"is_interrupt,omitempty"`
	DurationMS  float64         `json:"duration_ms,omitempty"`
}

// Event names the event.
func (PostToolUseFailure) Event() Event { return EventPostToolUseFailure }

// PostToolBatch is fired when all tools of a turn have run.
type PostToolBatch struct {
	Base      `json:"-"`
	ToolCalls []ToolCall `json:"tool_calls"`
}

// Event names the event.
func (PostToolBatch) Event() Event { return EventPostToolBatch }

// ToolCall is one run of a tool, as a PostToolBatch lists them.
type ToolCall struct {
	ToolName     string          `json:"tool_name"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolUseID    string          `json:"tool_use_id"`
	ToolResponse json.RawMessage `json:"tool_response"`
}

// Notification is fired when the host notifies a person.
type Notification struct {
	Base             `json:"-"`
	Message          string `json:"message"`
	Title            string `json:"title,omitempty"`
	NotificationType string `json:"notification_type"`
}

// Event names the event.
func (Notification) Event() Event { return EventNotification }

// SubagentStart is fired when a subagent begins. Base carries its agent_id
// and agent_type.
type SubagentStart struct {
	Base `json:"-"`
}

// Event names the event.
func (SubagentStart) Event() Event { return EventSubagentStart }

// SubagentStop is fired when a subagent is about to stop.
type SubagentStop struct {
	Base                 `json:"-"`
	StopHookActive       bool            `json:"stop_hook_active"`
	AgentTranscriptPath  string          `json:"agent_transcript_path"`
	LastAssistantMessage string          `json:"last_assistant_message,omitempty"`
	BackgroundTasks      json.RawMessage `json:"background_tasks,omitempty"`
	SessionCrons         json.RawMessage `json:"session_crons,omitempty"`
}

// Event names the event.
func (SubagentStop) Event() Event { return EventSubagentStop }

// TaskCreated is fired when a task was created.
type TaskCreated struct {
	Base            `json:"-"`
	TaskID          string `json:"task_id"`
	TaskSubject     string `json:"task_subject"`
	TaskDescription string `json:"task_description,omitempty"`
	TeammateName    string `json:"teammate_name,omitempty"`
	TeamName        string `json:"team_name,omitempty"`
}

// Event names the event.
func (TaskCreated) Event() Event { return EventTaskCreated }

// TaskCompleted is fired when a task is about to be completed.
type TaskCompleted struct {
	Base            `json:"-"`
	TaskID          string `json:"task_id"`
	TaskSubject     string `json:"task_subject"`
	TaskDescription string `json:"task_description,omitempty"`
	TeammateName    string `json:"teammate_name,omitempty"`
	TeamName        string `json:"team_name,omitempty"`
}

// Event names the event.
func (TaskCompleted) Event() Event { return EventTaskCompleted }

// Stop is fired when the agent is about to stop.
type Stop struct {
	Base                 `json:"-"`
	StopHookActive       bool            `json:"stop_hook_active"`
	LastAssistantMessage string          `json:"last_assistant_message,omitempty"`
	BackgroundTasks      json.RawMessage `json:"background_tasks,omitempty"`
	SessionCrons         json.RawMessage `json:"session_crons,omitempty"`
}

// Event names the event.
func (Stop) Event() Event { return EventStop }

// StopFailure is fired when a turn ended with an error.
type StopFailure struct {
	Base                 `json:"-"`
	Error                string `json:"error"`
	ErrorDetails         string `json:"error_details,omitempty"`
	LastAssistantMessage string `json:"last_assistant_message,omitempty"`
}

// Event names the event.
func (StopFailure) Event() Event { return EventStopFailure }

// TeammateIdle is fired when a teammate is about to go idle.
type TeammateIdle struct {
	Base         `json:"-"`
	TeammateName string `json:"teammate_name"`
	TeamName     string `json:"team_name"`
}

// Event names the event.
func (TeammateIdle) Event() Event { return EventTeammateIdle }

// ConfigChange is fired when a settings file changed.
type ConfigChange struct {
	Base     `json:"-"`
	Source   string `json:"source"` // user_settings, project_settings, local_settings, policy_settings, skills
	FilePath string `json:"file_path,omitempty"`
}

// Event names the event.
func (ConfigChange) Event() Event { return EventConfigChange }

// CwdChanged is fired when the working directory changed.
type CwdChanged struct {
	Base   `json:"-"`
	OldCwd string `json:"old_cwd"`
	NewCwd string `json:"new_cwd"`
}

// Event names the event.
func (CwdChanged) Event() Event { return EventCwdChanged }

// DirectoryAdded is fired when a directory was added to the workspace.
type DirectoryAdded struct {
	Base      `json:"-"`
	Directory string `json:"directory"`
	Source    string `json:"source"`
}

// Event names the event.
func (DirectoryAdded) Event() Event { return EventDirectoryAdded }

// FileChanged is fired when a watched file changed. Its matcher tests the
// file's base name.
type FileChanged struct {
	Base     `json:"-"`
	FilePath string `json:"file_path"`
	Change   string `json:"event"` // change, add, unlink
}

// Event names the event.
func (FileChanged) Event() Event { return EventFileChanged }

// WorktreeCreate is fired when a worktree is to be made; a hook makes it and
// answers with its path.
type WorktreeCreate struct {
	Base `json:"-"`
	Name string `json:"name"`
}

// Event names the event.
func (WorktreeCreate) Event() Event { return EventWorktreeCreate }

// WorktreeRemove is fired when a worktree is to be removed.
type WorktreeRemove struct {
	Base         `json:"-"`
	WorktreePath string `json:"worktree_path"`
}

// Event names the event.
func (WorktreeRemove) Event() Event { return EventWorktreeRemove }

// PreCompact is fired before the context is compacted.
type PreCompact struct {
	Base               `json:"-"`
	Trigger            string  `json:"trigger"` // manual, auto
	CustomInstructions *string `json:"custom_instructions"`
}

// Event names the event.
func (PreCompact) Event() Event { return EventPreCompact }

// PostCompact is fired after the context was compacted.
type PostCompact struct {
	Base           `json:"-"`
	Trigger        string `json:"trigger"`
	CompactSummary string `json:"compact_summary"`
}

// Event names the event.
func (PostCompact) Event() Event { return EventPostCompact }

// PreModelSwitch is fired before the model changes.
type PreModelSwitch struct {
	Base           `json:"-"`
	FromModel      string  `json:"from_model"`
	ToModel        string  `json:"to_model"`
	RequestedModel string  `json:"requested_model,omitempty"`
	Source         string  `json:"source,omitempty"`
	ContextTokens  float64 `json:"context_tokens,omitempty"`
}

// Event names the event.
func (PreModelSwitch) Event() Event { return EventPreModelSwitch }

// PostModelSwitch is fired after the model changed.
type PostModelSwitch struct {
	Base           `json:"-"`
	FromModel      string  `json:"from_model"`
	ToModel        string  `json:"to_model"`
	RequestedModel string  `json:"requested_model,omitempty"`
	Source         string  `json:"source,omitempty"`
	ContextTokens  float64 `json:"context_tokens,omitempty"`
}

// Event names the event.
func (PostModelSwitch) Event() Event { return EventPostModelSwitch }

// Elicitation is fired when an MCP server asks a person for input.
type Elicitation struct {
	Base            `json:"-"`
	MCPServerName   string          `json:"mcp_server_name"`
	Message         string          `json:"message"`
	Mode            string          `json:"mode,omitempty"`
	URL             string          `json:"url,omitempty"`
	ElicitationID   string          `json:"elicitation_id,omitempty"`
	RequestedSchema json.RawMessage `json:"requested_schema,omitempty"`
}

// Event names the event.
func (Elicitation) Event() Event { return EventElicitation }

// ElicitationResult is fired when a person answered an MCP server.
type ElicitationResult struct {
	Base          `json:"-"`
	MCPServerName string          `json:"mcp_server_name"`
	Action        string          `json:"action"`
	Mode          string          `json:"mode,omitempty"`
	ElicitationID string          `json:"elicitation_id,omitempty"`
	Content       json.RawMessage `json:"content,omitempty"`
}

// Event names the event.
func (ElicitationResult) Event() Event { return EventElicitationResult }

// SessionEnd is fired when a session ends.
type SessionEnd struct {
	Base   `json:"-"`
	Reason string `json:"reason"` // clear, resume, logout, prompt_input_exit, other
}

// Event names the event.
func (SessionEnd) Event() Event { return EventSessionEnd }

// StatusLine is fired when the host draws its status line (legacy hosts).
type StatusLine struct {
	Base `json:"-"`
}

// Event names the event.
func (StatusLine) Event() Event { return EventStatusLine }

// FileSuggestion is fired when the host completes a file name (legacy hosts).
type FileSuggestion struct {
	Base  `json:"-"`
	Query string `json:"query,omitempty"`
}

// Event names the event.
func (FileSuggestion) Event() Event { return EventFileSuggestion }

// Custom is an event that the table does not know. Its fields are in Base and
// Base.Extra.
type Custom struct {
	Base `json:"-"`
	Name Event `json:"-"`
}

// Event names the event.
func (in Custom) Event() Event { return in.Name }
