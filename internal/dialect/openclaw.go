package dialect

import "github.com/tenterhook/tenterhook/hook"

// openclawEvents are openclaw's names, as its documentation and the hooks
// around it have them. Hooks observe there: what they answer decides nothing.
var openclawEvents = productEvents{
	product: "openclaw",
	names: map[string]counterpart{
		"command":                {},
		"command:new":            {event: hook.EventSessionStart, matcher: "clear"},
		"command:reset":          {event: hook.EventSessionStart, matcher: "clear"},
		"command:stop":           {},
		"session:start":          {event: hook.EventSessionStart},
		"session:end":            {event: hook.EventSessionEnd},
		"session:compact:before": {event: hook.EventPreCompact},
		"session:compact:after":  {event: hook.EventPostCompact},
		"session:patch":          {},
		"agent:bootstrap":        {},
		"gateway:startup":        {},
		"gateway:shutdown":       {},
		"gateway:pre-restart":    {},
		"message":                {},
		"message:received":       {event: hook.EventUserPromptSubmit},
		"message:transcribed":    {},
		"message:preprocessed":   {},
		"message:sent":           {},
	},
}
