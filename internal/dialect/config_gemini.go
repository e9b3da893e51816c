package dialect

import (
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// geminiEvents are Gemini CLI's names beside those of the table.
var geminiEvents = productEvents{
	product: "gemini",
	names: map[string]counterpart{
		"BeforeAgent":         {event: hook.EventUserPromptSubmit},
		"AfterAgent":          {event: hook.EventStop},
		"BeforeTool":          {event: hook.EventPreToolUse},
		"AfterTool":           {event: hook.EventPostToolUse},
		"PreCompress":         {event: hook.EventPreCompact},
		"BeforeModel":         {},
		"AfterModel":          {},
		"BeforeToolSelection": {},
	},
}

// geminiConfig reads the settings of Gemini CLI, and the hooks files of its
// extensions. Times are in milliseconds.
var geminiConfig = product{
	name:   "gemini",
	files:  []configFile{{pattern: ".gemini/settings.json", form: formSettings}},
	events: geminiEvents,
	tools: map[string][]string{
		"run_shell_command": {"Bash"}, "write_file": {"Write"}, "replace": {"Edit", "MultiEdit"},
		"read_file": {"Read"}, "read_many_files": {"Read"}, "list_directory": {"LS"}, "glob": {"Glob"},
		"search_file_content": {"Grep"}, "grep_search": {"Grep"}, "web_fetch": {"WebFetch"},
		"google_web_search": {"WebSearch"}, "write_todos": {"TodoWrite"},
	},
	keys:     []string{"env"},
	ignored:  []string{"sequential"},
	besides:  []string{"enabled", "disabled", "notifications"},
	regexp:   true,
	unit:     time.Millisecond,
	timeout:  time.Minute,
	protocol: hook.ProtocolGemini,
	also:     (*configReader).geminiSwitches,
}

// geminiSwitches applies what the file itself says of its hooks: hooksConfig,
// or as older versions have it among the events, enabled and disabled.
func (r *configReader) geminiSwitches(doc *decl.Node) {
	for _, table := range []*decl.Node{doc.At("hooksConfig"), doc.At("hooks")} {
		if on := table.At("enabled"); on != nil && on.Value == false {
			r.config.Settings.DisableAllHooks = new(true)
		}
		for _, name := range table.At("disabled").List() {
			for _, h := range r.config.Hooks {
				if h.State == hook.StateReady && slices.Contains([]string{h.Name, commandLine(h)}, name.Text()) {
					h.State, h.Why = hook.StateDisabled, "its name is among the disabled hooks of its file"
				}
			}
		}
	}
}

func commandLine(h *hook.Hook) string {
	if h.Command == nil {
		return ""
	}
	return h.Command.Line
}
