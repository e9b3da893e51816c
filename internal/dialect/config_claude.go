package dialect

import (
	"runtime"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// claudeConfig reads Claude Code's settings, and the hooks files and manifests
// of its plugins. Several others read and write the same shape.
var claudeConfig = product{
	name: "claude",
	files: []configFile{
		{pattern: ".claude/settings.json", form: formSettings},
		{pattern: ".claude/settings.local.json", form: formSettings},
		{pattern: ".claude-plugin/plugin.json", form: formManifest},
		{pattern: ".claude/hooks.json"},
		{pattern: "managed-settings.json", form: formSettings, managed: claudeManagedFolder},
	},
	keys:     claudeHandlerKeys,
	single:   map[string]hook.Event{"statusLine": hook.EventStatusLine, "fileSuggestion": hook.EventFileSuggestion},
	strict:   true,
	unit:     time.Second,
	settings: true,
	typical:  true,
}

// claudeManagedFolder is the folder of an administrator's settings for Claude
// Code, beside our own.
func claudeManagedFolder() string {
	if runtime.GOOS == "linux" {
		return "claude-code"
	}
	return "ClaudeCode"
}
