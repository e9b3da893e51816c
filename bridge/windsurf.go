package bridge

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// windsurf is Windsurf: an event for each kind of tool, and exit codes alone.
var windsurf = Agent{
	Name: "windsurf", Title: "Windsurf",
	events: []event{
		{"pre_user_prompt", hook.EventUserPromptSubmit}, {"pre_read_code", hook.EventPreToolUse}, {"pre_write_code", hook.EventPreToolUse},
		{"pre_run_command", hook.EventPreToolUse}, {"pre_mcp_tool_use", hook.EventPreToolUse}, {"post_read_code", hook.EventPostToolUse},
		{"post_write_code", hook.EventPostToolUse}, {"post_run_command", hook.EventPostToolUse}, {"post_mcp_tool_use", hook.EventPostToolUse},
		{"post_cascade_response", hook.EventStop},
	},
	prepare: func(c *call) error {
		c.rename(map[string]string{"trajectory_id": "session_id"})
		var info map[string]json.RawMessage
		if json.Unmarshal(c.fields["tool_info"], &info) != nil {
			return nil
		}
		text := func(key string) (s string) { _ = json.Unmarshal(info[key], &s); return s } // "" if it is none
		switch c.native {
		case "pre_user_prompt":
			c.fields["prompt"] = info["user_prompt"]
		case "pre_run_command", "post_run_command":
			c.set("tool_name", "Bash")
			c.set("tool_input", map[string]any{"command": info["command_line"]})
		case "pre_read_code", "post_read_code":
			c.set("tool_name", "Read")
			c.set("tool_input", map[string]any{"file_path": info["file_path"]})
		case "pre_write_code", "post_write_code":
			c.set("tool_name", "Edit")
			c.set("tool_input", map[string]any{"file_path": info["file_path"], "edits": info["edits"]})
		case "pre_mcp_tool_use", "post_mcp_tool_use":
			c.set("tool_name", "mcp__"+text("mcp_server_name")+"__"+text("mcp_tool_name"))
			c.fields["tool_input"] = info["mcp_tool_arguments"]
		case "post_cascade_response":
			c.set("last_assistant_message", text("response"))
		}
		if cwd := text("cwd"); cwd != "" {
			c.set("cwd", cwd)
		}
		return nil
	},
	answer: func(r *reply) Answer {
		if r.verdict == hook.Deny {
			return Answer{Stderr: []byte(r.reason + "\n"), ExitCode: 2}
		}
		return Answer{}
	},
}
