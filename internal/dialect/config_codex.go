package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// codexEvents are Codex' names beside those of the table.
var codexEvents = productEvents{
	product: "codex",
	names:   map[string]counterpart{"Interrupt": {}},
}

// codexConfig reads Codex' hooks.json and config.toml.
var codexConfig = product{
	name: "codex",
	files: []configFile{
		{pattern: ".codex/hooks.json"},
		{pattern: ".codex/config.toml", form: formSettings},
		{pattern: ".codex-plugin/plugin.json", form: formManifest},
	},
	events: codexEvents,
	tools: map[string][]string{
		"apply_patch": {"Edit", "Write", "MultiEdit"}, "shell": {"Bash"}, "shell_command": {"Bash"}, "exec_command": {"Bash"},
	},
	keys: []string{
		"command_windows", "async", "status_message", "server", "tool", "input", "prompt", "model",
	},
	regexp: true,
	syntax: hook.SyntaxRegexp,
	unit:   time.Second,
	settle: settleCodex,
	marks:  []string{"commandWindows"},
}

// The limits of the events on which Codex does not wait.
const (
	codexEndTimeout    = time.Second
	codexEndTimeoutMax = 3 * time.Second
)

func settleCodex(h *hook.Hook, _ *entry, name string) {
	if h.Event != hook.EventSessionEnd && name != "Interrupt" {
		return
	}
	if h.Timeout == 0 {
		h.Timeout = codexEndTimeout
	}
	h.Timeout = min(h.Timeout, codexEndTimeoutMax)
}
