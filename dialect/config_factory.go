package dialect

import "time"

// factoryConfig reads the settings and the hooks.json of Factory's Droid: the
// shape and the events of Claude Code, with some tools under other names.
var factoryConfig = product{
	name: "factory",
	files: []configFile{
		{".factory/settings.json", formSettings},
		{".factory/settings.local.json", formSettings},
		{".factory/hooks.json", formHooks},
		{".factory-plugin/plugin.json", formManifest},
	},
	tools: map[string][]string{
		"Execute": {"Bash"}, "Create": {"Write"}, "ApplyPatch": {"Edit", "Write", "MultiEdit"}, "FetchUrl": {"WebFetch"},
	},
	keys:     claudeHandlerKeys,
	unit:     time.Second,
	settings: true,
}
