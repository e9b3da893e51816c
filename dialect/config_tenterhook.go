package dialect

import "time"

// tenterhookConfig reads our own settings: handlers in the shape of Claude Code
// or of caliban, or right in the list of their event, with the keys of HOOK.md.
var tenterhookConfig = product{
	name: "tenterhook",
	files: []configFile{
		{pattern: ".tenterhook/settings.toml", form: formSettings},
		{pattern: ".tenterhook/settings.json", form: formSettings},
		{pattern: ".tenterhook/local/settings.toml", form: formSettings},
		{pattern: ".tenterhook/local/settings.json", form: formSettings},
		{pattern: "tenterhook/settings.toml", form: formSettings},
		{pattern: "tenterhook/settings.json", form: formSettings},
	},
	keys: append([]string{
		"env", "priority", "rewrites", "protocol", "enabled", "requires", "breaker", "sandbox", "schema", "method", "hook", "plugin", "worker",
		"unless", "when", "touches", "reads", "writes", "network", "destructive", "decision", "reason", "text", "set", "suppress_prompt",
	}, claudeHandlerKeys...),
	flat:     true,
	inner:    true,
	strict:   true,
	unit:     time.Second,
	settings: true,
}
