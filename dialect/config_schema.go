package dialect

import (
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

type object = map[string]any

// SettingsSchema is the JSON Schema of our own settings, for editors: every key
// that ReadConfig knows there, in both its spellings. Handlers are open: each
// kind has keys of its own.
func SettingsSchema() json.RawMessage {
	properties := make(object)
	for _, key := range settingKeys {
		properties[key] = settingSchema(key)
		properties[camel(key)] = settingSchema(key)
	}
	properties["$schema"] = object{"type": "string"}
	data, err := json.MarshalIndent(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Settings of tenterhook",
		"type": "object", "properties": properties, "additionalProperties": false,
	}, "", "  ")
	if err != nil {
		panic(err) // it is made of strings
	}
	return append(data, '\n')
}

func settingSchema(key string) object {
	text, flag := object{"type": "string"}, object{"type": "boolean"}
	texts := object{"type": "array", "items": text}
	table := object{"type": "object", "additionalProperties": text}
	switch key {
	case "disable_all_hooks", "allow_managed_hooks_only", "allow_no_hooks", "allow_local_http_hook_targets", "sandbox_required":
		return flag
	case "allowed_http_hook_urls", "http_hook_allowed_env_vars", "disabled", "packs":
		return texts
	case "default_on_failure":
		return object{"enum": []hook.FailurePolicy{hook.FailureContinue, hook.FailureBlock}}
	case "max_async":
		return object{"type": "integer", "minimum": 0}
	case "breaker":
		return closed(object{"failures": object{"type": "integer"}, "cooldown": object{"type": []string{"number", "string"}}})
	case "mcp_servers":
		server := closed(object{"command": text, "args": texts, "env": table, "url": text, "headers": table,
			"allowed_env_vars": texts, "allowedEnvVars": texts, "sandbox": sandboxSchema()})
		return object{"type": "object", "additionalProperties": server}
	case "model":
		return object{"anyOf": []any{text, closed(object{"provider": object{"enum": modelMakers}, "model": text,
			"base_url": text, "baseUrl": text, "api_key_env": text, "apiKeyEnv": text})}}
	case "sandbox":
		scopes := make(object)
		for _, name := range sandboxScopes {
			scopes[name] = object{"enum": hook.SandboxModes()}
		}
		return closed(scopes)
	case "fleet":
		return fleetSchema()
	case "journal":
		return closed(object{"record": object{"enum": recordLevels}, "keep": text, "redact": texts,
			"max_size": text, "maxSize": text})
	case "hooks":
		events := make(object)
		for _, e := range hook.Events() {
			events[string(e.Event)] = object{"description": e.Doc}
		}
		return object{"type": "object", "properties": events,
			"additionalProperties": object{"type": "array", "items": object{"type": "object"}}}
	}
	return object{}
}

// sandboxSchema is a mode, or a table of [hook.SandboxKeys].
func sandboxSchema() object {
	mode := object{"enum": hook.SandboxModes()}
	keys := make(object)
	for _, key := range hook.SandboxKeys() {
		keys[key] = object{"type": "array", "items": object{"type": "string"}}
		switch key {
		case "mode":
			keys[key] = mode
		case "memory":
			keys[key] = object{"type": "string"}
		}
		keys[camel(key)] = keys[key]
	}
	return object{"anyOf": []any{mode, closed(keys)}}
}

func closed(properties object) object {
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

// camel is a key of snake_case in camelCase.
func camel(key string) string {
	words := strings.Split(key, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
