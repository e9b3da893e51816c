package schema

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The keywords that hold schemas. Those of inPlace judge the same value as the
// schema that they are in, so a reference back through them alone never ends.
var (
	single  = []string{"not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
	lists   = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	named   = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}
	others  = []string{"$ref", "$anchor", "type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
		"minProperties", "maxProperties", "required", "dependentRequired"}

	types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}
)

const (
	maxDepth = 100     // of schemas within schemas
	maxSteps = 100_000 // to judge one value, aside from its parts
)

// cost is what it takes to judge one value, aside from its parts.
type cost struct {
	steps int // schemas that judge it; 0 while they are counted
	chain int // the most of them that are under way at once
}

// document is a schema that is being made ready for the library, which reads two
// drafts only, takes a keyword in any case, and overflows its stack on a schema
// that refers to itself.
type document struct {
	root    map[string]any
	id      string // of the root
	anchors map[string]map[string]any
	nested  bool // a schema below the root has an $id
	all     []map[string]any
	costs   map[uintptr]cost // by schema
}

// modernize rewrites a schema of an older draft as one of 2020-12, in place, and
// refuses what cannot be judged safely. It returns the longest chain of schemas
// that judge one value.
func modernize(tree any) (chain int, err error) {
	root, ok := tree.(map[string]any)
	if !ok {
		if _, ok := tree.(bool); ok {
			return 1, nil
		}
		return 0, errors.New("a schema must be an object or a boolean")
	}
	if draft, ok := root["$schema"].(string); ok && !strings.Contains(draft, "json-schema.org/") {
		return 0, fmt.Errorf("$schema names %s, which is not a draft of JSON Schema", draft)
	}
	d := &document{root: root, anchors: make(map[string]map[string]any), costs: make(map[uintptr]cost)}
	if err := d.read(root, 0); err != nil {
		return 0, err
	}
	for _, m := range d.all {
		c, err := d.count(m)
		if err != nil {
			return 0, err
		}
		chain = max(chain, c.chain)
	}
	return chain, nil
}

func (d *document) read(tree any, depth int) error {
	m, ok := tree.(map[string]any)
	if !ok {
		return nil // a boolean, or what the library refuses
	}
	if depth > maxDepth {
		return fmt.Errorf("it has more than %d schemas within each other", maxDepth)
	}
	d.all = append(d.all, m)
	if err := d.identify(m); err != nil {
		return err
	}
	for _, name := range asList(m["type"]) {
		if name, ok := name.(string); ok && !slices.Contains(types, name) {
			return fmt.Errorf("type names %q: want one of %s", name, strings.Join(types, ", "))
		}
	}
	update(m)
	maps.DeleteFunc(m, func(key string, _ any) bool {
		return !slices.Contains(slices.Concat(single, lists, named, others), key)
	})
	for _, sub := range children(m, single, lists, named) {
		if err := d.read(sub, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func asList(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}

// identify notes the names of a schema, and removes the ones that change what a
// reference within it means.
func (d *document) identify(m map[string]any) error {
	for _, key := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := m[key]; ok {
			return fmt.Errorf("it uses %s, which is not supported: write $ref", key)
		}
	}
	for _, key := range []string{"$id", "id"} {
		if id, ok := m[key].(string); ok {
			if delete(m, key); len(d.all) == 1 {
				d.id = strings.TrimSuffix(id, "#")
			} else {
				d.nested = true
			}
		}
	}
	if name, ok := m["$anchor"].(string); ok {
		d.anchors[name] = m
	}
	return nil
}

// update replaces the keywords of older drafts.
func update(m map[string]any) {
	if tuple, ok := m["items"].([]any); ok {
		delete(m, "items")
		m["prefixItems"] = tuple
		if rest, ok := m["additionalItems"]; ok {
			m["items"] = rest
		}
	}
	for limit, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		if is, ok := m[exclusive].(bool); ok {
			delete(m, exclusive)
			if value, ok := m[limit]; ok && is {
				m[exclusive] = value
				delete(m, limit)
			}
		}
	}
	dependencies, _ := m["dependencies"].(map[string]any)
	for name, needs := range dependencies {
		key := "dependentSchemas"
		if _, ok := needs.([]any); ok {
			key = "dependentRequired"
		}
		if _, ok := m[key].(map[string]any); !ok {
			m[key] = make(map[string]any)
		}
		m[key].(map[string]any)[name] = needs
	}
}

// children returns what stands in a schema where a schema is expected.
func children(m map[string]any, keys ...[]string) (found []any) {
	for _, key := range slices.Concat(keys...) {
		switch value := m[key].(type) {
		case map[string]any:
			if !slices.Contains(named, key) {
				found = append(found, value)
				continue
			}
			for _, sub := range value {
				found = append(found, sub)
			}
		case []any:
			found = append(found, value...)
		}
	}
	return found
}

// count returns what it takes to judge a value that m judges.
func (d *document) count(m map[string]any) (cost, error) {
	key := reflect.ValueOf(m).Pointer()
	if c, known := d.costs[key]; known {
		if c.steps == 0 {
			return cost{}, errors.New("it refers to itself without an end")
		}
		return c, nil
	}
	d.costs[key] = cost{}
	next := children(m, inPlace)
	if ref, ok := m["$ref"].(string); ok {
		target, fragment, err := d.follow(ref)
		if err != nil {
			return cost{}, err
		}
		m["$ref"] = "#" + fragment // without the root's $id
		next = append(next, target)
	}
	sum := cost{steps: 1, chain: 1}
	for _, sub := range next {
		sub, ok := sub.(map[string]any)
		if !ok {
			continue
		}
		c, err := d.count(sub)
		if err != nil {
			return cost{}, err
		}
		sum.chain = max(sum.chain, 1+c.chain)
		if sum.steps += c.steps; sum.steps > maxSteps {
			return cost{}, fmt.Errorf("judging one value may take more than %d steps", maxSteps)
		}
	}
	d.costs[key] = sum
	return sum, nil
}

// follow returns what a reference points to, and the reference's own fragment.
func (d *document) follow(ref string) (target any, fragment string, err error) {
	document, fragment, _ := strings.Cut(ref, "#")
	if document != "" && document != d.id {
		return nil, "", fmt.Errorf("it refers to %s, which is not loaded", ref)
	}
	if d.nested {
		return nil, "", errors.New("it has both references and an $id below its root, which is not supported")
	}
	name, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, "", fmt.Errorf("it refers to %s: %w", ref, err)
	}
	target = d.root
	if anchor, ok := d.anchors[name]; ok {
		target = anchor
	} else if name != "" {
		target = point(d.root, name)
	}
	if target == nil {
		return nil, "", fmt.Errorf("it refers to %s, which it does not have", ref)
	}
	return target, fragment, nil
}

// point returns what a JSON pointer leads to; nil if it leads nowhere.
func point(at any, pointer string) any {
	words := strings.Split(pointer, "/")
	if words[0] != "" {
		return nil
	}
	for _, word := range words[1:] {
		word = strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
		switch value := at.(type) {
		case map[string]any:
			at = value[word]
		case []any:
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 || i >= len(value) {
				return nil
			}
			at = value[i]
		default:
			return nil
		}
	}
	return at
}
