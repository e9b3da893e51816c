package dialect

import "time"

// factoryConfig reads the settings and the hooks.json of Factory's Droid: the
// shape and the events of Claude Code, with some tools under other names.
var factoryConfig = product{
	name: "factory",
	files: []configFile{
		{pattern: ".factory/settings.json", form: formSettings},
		{pattern: ".factory/settings.local.json", form: formSettings},
		{pattern: ".factory/hooks.json"},
		{pattern: ".factory-plugin/plugin.json", form: formManifest},
	},
	tools: map[string][]string{
		"Execute": {"Bash"}, "Create": {"Write"}, "ApplyPatch": {"Edit", "Write", "MultiEdit"}, "FetchUrl": {"WebFetch"},
	},
	keys:     claudeHandlerKeys,
	unit:     time.Second,
	settings: true,
	bare:     true,
}
