package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Schema is the JSON Schema of a HOOK.md's frontmatter, for editors: every key
// that Parse knows, in both its spellings. What Parse only warns of, it refuses.
func Schema() json.RawMessage {
	properties := make(map[string]any)
	for _, key := range knownKeys.list {
		properties[key] = described(key, schemaOf(key))
	}
	data, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The frontmatter of a HOOK.md",
		"type": "object", "properties": properties, "additionalProperties": false,
	}, "", "  ")
	if err != nil {
		panic(err) // it is made of strings
	}
	return append(data, '\n')
}

type object = map[string]any

// described adds to a key's schema what the reference says about it.
func described(key string, schema object) object {
	i := slices.IndexFunc(keyTable, func(k Key) bool { return k.Name == key || camelCase[k.Name] == key })
	if i < 0 || schema["description"] != nil {
		return schema
	}
	schema = maps.Clone(schema)
	schema["description"] = strings.ReplaceAll(keyTable[i].Doc, "`", "")
	return schema
}

var (
	textSchema  = object{"type": "string"}
	textsSchema = object{"type": "array", "items": textSchema}
	rulesSchema = object{"anyOf": []any{textSchema, object{"type": "array", "items": object{"type": "string", "minLength": 1}, "minItems": 1}}}
	flagSchema  = object{"type": "boolean"}
	timeSchema  = object{"description": `seconds, or text as "500ms", "5s", "2m"`, "anyOf": []any{
		object{"type": "number", "exclusiveMinimum": 0}, textSchema}}
)

var wantSchema = map[want]object{
	wantText: textSchema, wantList: textsSchema, wantFlag: flagSchema, wantTable: {"type": "object"},
	wantTexts: {"type": "object", "additionalProperties": textSchema}, wantAny: {}, wantWords: rulesSchema,
}

func oneOf(words []string) object { return object{"enum": words} }

// schemaOf is the schema of a key's value; that of a key of another host takes
// anything.
func schemaOf(key string) object {
	if key == "decision" {
		return oneOf(words(hook.Decisions()))
	}
	for _, p := range params {
		if key == p.key || key == p.name() {
			return wantSchema[p.want]
		}
	}
	for own, camel := range camelCase {
		if key == camel {
			key = own
		}
	}
	switch key {
	case "name", "description", "matcher", "command", "status_message":
		return textSchema
	case "if":
		return rulesSchema
	case "event":
		return object{"type": "string", "examples": eventNames()}
	case "events":
		return object{"type": "array", "minItems": 1, "items": object{"type": "string", "examples": eventNames()}}
	case "type":
		return oneOf(kindWords)
	case "on_failure":
		return oneOf(policyWords)
	case "protocol":
		return oneOf(protocolWords)
	case "shell":
		return oneOf(shellWords)
	case "cwd":
		return oneOf(cwdWords)
	case "args":
		return textsSchema
	case "once", "rewrites", "enabled", "async", "async_rewake", "worker":
		return flagSchema
	case "priority":
		return object{"type": "integer"}
	case "timeout":
		return timeSchema
	case "env":
		return object{"type": []string{"object", "array"}}
	case "requires":
		return tableSchema(requiresKeys, object{"anyOf": []any{textSchema, textsSchema, object{"type": "object"}}})
	case "sandbox":
		table := tableSchema(newKeySet(tableKeys("sandbox")...), textsSchema)
		of := table["properties"].(object)
		of["mode"], of["memory"] = oneOf(words(hook.SandboxModes())), textSchema
		return object{"anyOf": []any{oneOf(words(hook.SandboxModes())), table}}
	case "breaker":
		s := tableSchema(breakerKeys, object{"type": "integer"})
		s["properties"].(object)["cooldown"] = timeSchema
		return s
	}
	return object{}
}

func tableSchema(keys keySet, of object) object {
	properties := make(object)
	for _, key := range keys.list {
		properties[key] = of
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

func eventNames() []string {
	var names []string
	for _, e := range hook.Events() {
		names = append(names, string(e.Event))
	}
	slices.Sort(names)
	return names
}
