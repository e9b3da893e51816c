package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// calibanConfig reads the hooks of caliban's settings, and its older hooks.toml.
var calibanConfig = product{
	name: "caliban",
	files: []configFile{
		{pattern: ".caliban/settings.toml", form: formSettings, only: hook.ScopeProject},
		{pattern: ".caliban/settings.json", form: formSettings, only: hook.ScopeProject},
		{pattern: ".caliban/hooks.toml", form: formSettings, legacy: true, only: hook.ScopeProject},
		{pattern: "caliban/settings.toml", form: formSettings},
		{pattern: "caliban/settings.json", form: formSettings},
		{pattern: "caliban/hooks.toml", form: formSettings, legacy: true},
	},
	keys: []string{
		"if", "async", "env", "url", "headers", "allowed_env_vars", "mcp", "server", "tool", "input", "agent", "prompt",
		"model", "schema", "on_failure",
	},
	inner:    true,
	syntax:   hook.SyntaxGlob,
	unit:     time.Second,
	protocol: hook.ProtocolCaliban,
	settings: true,
	marks:    []string{"handlers"},
}
