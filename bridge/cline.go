package bridge

import (
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// newFile is the entry of the editor that is given no old text: it makes a file.
const newFile = "editor, a file"

var clineFile = map[string]string{"path": "file_path"}

// cline runs files that are named as its events are. Only a cancel in JSON
// refuses; its exit codes say nothing.
var cline = Agent{
	Name: "cline", Title: "Cline",
	events: []event{
		{"TaskStart", hook.EventSessionStart}, {"UserPromptSubmit", hook.EventUserPromptSubmit}, {"PreToolUse", hook.EventPreToolUse},
		{"PostToolUse", hook.EventPostToolUse}, {"TaskComplete", hook.EventStop},
	},
	tools: map[string]tool{"run_commands": {"Bash", map[string]string{"commands": "command"}}, "execute_command": {"Bash", nil},
		"editor": {"Edit", map[string]string{"path": "file_path", "old_text": "old_string", "new_text": "new_string"}},
		newFile:  {"Write", map[string]string{"path": "file_path", "new_text": "content"}}, "apply_patch": {"Edit", nil},
		"read_files": {"Read", clineFile}, "read_file": {"Read", clineFile}, "write_to_file": {"Write", clineFile}, "replace_in_file": {"Edit", clineFile},
		"fetch_web_content": {"WebFetch", nil}, "spawn_agent": {"Agent", map[string]string{"task": "prompt"}}},
	lists: map[string]string{"read_files": "files", "fetch_web_content": "requests"},
	variant: func(name string, input json.RawMessage) string {
		var in struct {
			Old  *string `json:"old_text"`
			Line *int    `json:"insert_line"`
		}
		if name == "editor" && json.Unmarshal(input, &in) == nil && in.Old == nil && in.Line == nil {
			return newFile
		}
		return ""
	},
	mcp: func(_ *call, name string) (server, tool string, ok bool) { return strings.Cut(name, "__") },
	prepare: func(c *call) error {
		var one struct {
			ID     string
			Name   string
			Input  json.RawMessage
			Output json.RawMessage
		}
		for _, key := range []string{"tool_call", "tool_result"} {
			if json.Unmarshal(c.fields[key], &one) == nil && one.Name != "" {
				c.set("tool_name", one.Name)
				c.set("tool_use_id", one.ID)
				c.fields["tool_input"] = one.Input
				if key == "tool_result" && one.Output != nil {
					c.fields["tool_response"] = one.Output
				}
			}
		}
		var input map[string]json.RawMessage
		var commands []string
		if json.Unmarshal(c.fields["tool_input"], &input) == nil && json.Unmarshal(input["commands"], &commands) == nil && commands != nil {
			input["commands"] = quotedText(strings.Join(commands, "\n")) // one text, as a shell has it
			c.set("tool_input", input)
		}
		var roots []string
		if json.Unmarshal(c.fields["workspaceRoots"], &roots) == nil && len(roots) > 0 && c.fields["cwd"] == nil {
			c.set("cwd", roots[0])
		}
		if parent := c.fields["parent_agent_id"]; parent == nil || string(parent) == "null" {
			delete(c.fields, "agent_id") // it also names the main agent
		}
		c.rename(map[string]string{"taskId": "session_id", "sessionId": "session_id"})
		return nil
	},
	express: func(r *reply) bool {
		r.input = r.nativeInput(r.input)
		var input map[string]json.RawMessage
		var command string
		if json.Unmarshal(r.input, &input) == nil && json.Unmarshal(input["commands"], &command) == nil {
			input["commands"] = json.RawMessage(`[` + string(quotedText(command)) + `]`)
			r.input = marshal(input)
		}
		return true
	},
	answer: func(r *reply) Answer {
		out := struct {
			Cancel  bool            `json:"cancel,omitempty"`
			Message string          `json:"errorMessage,omitempty"`
			Context string          `json:"contextModification,omitempty"`
			Input   json.RawMessage `json:"overrideInput,omitempty"`
		}{r.verdict == hook.Deny, "", r.context, r.input}
		if out.Cancel {
			out.Message = r.reason
		}
		if !out.Cancel && out.Context == "" && out.Input == nil {
			return Answer{}
		}
		return Answer{Stdout: marshal(out)}
	},
}
