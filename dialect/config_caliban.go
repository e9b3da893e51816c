package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// calibanConfig reads the hooks of caliban's settings, and its older hooks.toml.
var calibanConfig = product{
	name: "caliban",
	files: []configFile{
		{".caliban/settings.toml", formSettings},
		{".caliban/settings.json", formSettings},
		{".caliban/hooks.toml", formSettings},
		{"caliban/settings.toml", formSettings},
		{"caliban/settings.json", formSettings},
		{"caliban/hooks.toml", formSettings},
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
}
