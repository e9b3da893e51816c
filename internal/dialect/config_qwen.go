package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// qwenConfig reads the settings of Qwen Code: Claude Code's events and shape,
// with Gemini CLI's names for tools.
var qwenConfig = product{
	name:  "qwen",
	files: []configFile{{pattern: ".qwen/settings.json", form: formSettings}},
	tools: map[string][]string{
		"run_shell_command": {"Bash"}, "write_file": {"Write"}, "edit": {"Edit", "MultiEdit"}, "replace": {"Edit", "MultiEdit"},
		"read_file": {"Read"}, "read_many_files": {"Read"}, "list_directory": {"LS"}, "glob": {"Glob"},
		"search_file_content": {"Grep"}, "grep_search": {"Grep"}, "web_fetch": {"WebFetch"},
		"web_search": {"WebSearch"}, "todo_write": {"TodoWrite"},
	},
	keys:     []string{"async", "env", "status_message", "url", "headers", "allowed_env_vars", "if", "once", "shell"},
	ignored:  []string{"sequential"},
	besides:  []string{"enabled", "disabled"},
	regexp:   true,
	unit:     decl.AnyUnit,
	timeout:  time.Minute,
	protocol: hook.ProtocolQwen,
	settings: true,
}
