package decl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// More types, of settings.
const (
	Count       Type = "a number, at least 0"
	Tables      Type = "tables by name"
	TextOrTable Type = "a text or a table"
	Box         Type = "a mode or a table"
)

type object = map[string]any

// Schema wraps the properties of a file in a JSON Schema. name is that of the
// schema's file, without its extension.
func Schema(name, title string, properties map[string]any) json.RawMessage {
	schema := closed(properties)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = "https://raw.githubusercontent.com/tenterhook/tenterhook/main/schemas/" + name + ".schema.json"
	schema["title"] = title
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(err) // it is made of strings
	}
	return append(data, '\n')
}

func closed(properties object) object {
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

// Properties are the schemas of keys, by name, in both spellings.
func Properties(keys []Key) map[string]any {
	properties := make(object)
	for _, k := range keys {
		schema := k.Schema()
		properties[k.Name], properties[Camel(k.Name)] = schema, schema
	}
	return properties
}

// Schema is that of the key's value.
func (k *Key) Schema() map[string]any {
	schema := maps.Clone(k.Takes.schema())
	if k.Takes == Choice {
		schema["enum"] = k.Words
	}
	if k.Inner != nil {
		table := closed(Properties(k.Inner))
		switch k.Takes {
		case Tables:
			schema["additionalProperties"] = table
		case TextOrTable:
			schema = object{"anyOf": []any{Text.schema(), table}}
		default:
			schema = table
		}
	}
	if k.Doc != "" {
		schema["description"] = strings.ReplaceAll(k.Doc, "`", "")
	}
	return schema
}

func (k Type) schema() object {
	text := object{"type": "string"}
	texts := object{"type": "array", "items": text}
	switch k {
	case Text, Prose, Age, Size, Expression:
		return text
	case Texts:
		return texts
	case Words:
		return object{"anyOf": []any{text, texts}}
	case Rules, Globs:
		return object{"anyOf": []any{text, object{"type": "array", "items": object{"type": "string", "minLength": 1}, "minItems": 1}}}
	case Named:
		return object{"type": "object", "additionalProperties": text}
	case Flag:
		return object{"type": "boolean"}
	case Integer:
		return object{"type": "integer"}
	case Count:
		return object{"type": "integer", "minimum": 0}
	case Time:
		return object{"anyOf": []any{object{"type": "number", "exclusiveMinimum": 0}, text}}
	case Object, Tables:
		return object{"type": "object"}
	case Box:
		modes := InTable("sandbox")
		return object{"anyOf": []any{modes[0].Schema(), closed(Properties(modes))}}
	}
	return object{}
}

// HookSchema is the JSON Schema of a hook's declaration: every key, in both its
// spellings. more are keys that count for nothing here.
func HookSchema(more ...string) json.RawMessage {
	properties := make(object)
	for _, name := range more {
		properties[name] = object{}
	}
	for _, k := range Keys() {
		if !strings.Contains(k.Name, ".") {
			maps.Copy(properties, Properties([]Key{k}))
		}
	}
	for _, table := range Top() {
		if inner := InTable(table); inner != nil {
			k := Key{Name: table, Takes: Object, Inner: inner}
			properties[table] = k.Schema()
		}
	}
	var events []string
	for _, e := range hook.Events() {
		events = append(events, string(e.Event))
	}
	slices.Sort(events)
	name := object{"type": "string", "examples": events}
	for _, key := range []string{"event", "events"} {
		properties[key].(object)["anyOf"] = []any{name, object{"type": "array", "minItems": 1, "items": name}}
	}
	box := Key{Name: "sandbox", Takes: Box, Doc: "how far its processes are contained"}
	properties["sandbox"] = box.Schema()
	env := properties["env"].(object)
	delete(env, "additionalProperties")
	env["type"] = []string{"object", "array"}
	requires := properties["requires"].(object)["properties"].(object)
	requires["config"] = object{}
	types := properties["type"].(object)
	var words []string
	for _, kind := range hook.Kinds() {
		words = append(words, kind.Info().Words...)
	}
	types["enum"] = words
	return Schema("hook", "The frontmatter of a HOOK.md", properties)
}
