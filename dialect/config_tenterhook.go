package dialect

import "time"

// tenterhookConfig reads our own settings: handlers in the shape of Claude Code
// or of caliban, or right in the list of their event, with the keys of HOOK.md.
var tenterhookConfig = product{
	name: "tenterhook",
	files: []configFile{
		{".tenterhook/settings.toml", formSettings},
		{".tenterhook/settings.json", formSettings},
		{".tenterhook/local/settings.toml", formSettings},
		{".tenterhook/local/settings.json", formSettings},
		{"tenterhook/settings.toml", formSettings},
		{"tenterhook/settings.json", formSettings},
	},
	keys: append([]string{
		"env", "priority", "rewrites", "protocol", "enabled", "requires", "breaker", "schema", "method", "hook",
	}, claudeHandlerKeys...),
	flat:     true,
	inner:    true,
	strict:   true,
	unit:     time.Second,
	settings: true,
}
