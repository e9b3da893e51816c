package dialect

import (
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/internal/decl"
)

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
	keys: slices.DeleteFunc(decl.Top(), func(key string) bool { // what the place of a handler says
		return slices.Contains([]string{"event", "events", "cwd"}, key)
	}),
	own:      true,
	flat:     true,
	inner:    true,
	strict:   true,
	unit:     time.Second,
	settings: true,
}
