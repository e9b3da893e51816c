package dialect

import "time"

// claudeConfig reads Claude Code's settings, and the hooks files and manifests
// of its plugins. Several others read and write the same shape.
var claudeConfig = product{
	name: "claude",
	files: []configFile{
		{".claude/settings.json", formSettings},
		{".claude/settings.local.json", formSettings},
		{".claude-plugin/plugin.json", formManifest},
		{".claude/hooks.json", formHooks},
		{"managed-settings.json", formSettings},
	},
	keys:     claudeHandlerKeys,
	strict:   true,
	unit:     time.Second,
	settings: true,
}
