package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// windsurfEvents are Windsurf's names.
var windsurfEvents = productEvents{
	product: "windsurf",
	names: map[string]counterpart{
		"pre_user_prompt":                       {event: hook.EventUserPromptSubmit},
		"pre_read_code":                         {event: hook.EventPreToolUse, matcher: "Read"},
		"post_read_code":                        {event: hook.EventPostToolUse, matcher: "Read"},
		"pre_write_code":                        {event: hook.EventPreToolUse, matcher: editTools},
		"post_write_code":                       {event: hook.EventPostToolUse, matcher: editTools},
		"pre_run_command":                       {event: hook.EventPreToolUse, matcher: "Bash"},
		"post_run_command":                      {event: hook.EventPostToolUse, matcher: "Bash"},
		"pre_mcp_tool_use":                      {event: hook.EventPreToolUse, matcher: mcpTools},
		"post_mcp_tool_use":                     {event: hook.EventPostToolUse, matcher: mcpTools},
		"post_cascade_response":                 {event: hook.EventStop},
		"post_cascade_response_with_transcript": {event: hook.EventStop},
		"post_setup_worktree":                   {},
	},
}

// windsurfConfig reads Windsurf's hooks.json. Its hooks answer with their exit
// code alone.
var windsurfConfig = product{
	name: "windsurf",
	files: []configFile{
		{pattern: ".windsurf/hooks.json"},
		{pattern: ".codeium/windsurf/hooks.json", only: hook.ScopeUser},
	},
	events:  windsurfEvents,
	keys:    []string{"powershell", "working_directory"},
	ignored: []string{"show_output"},
	flat:    true,
	marks:   []string{"show_output", "working_directory"},
	unit:    time.Second,
}
