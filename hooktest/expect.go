package hooktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// shapes are the keys that what is printed can have: an expectation of any
// other is a misspelling, which would match what is not there.
var shapes = map[string][]string{
	"outcome": {"event", "verdict", "reason", "stop", "stop_reason", "updated_input", "updated_tool_output", "context",
		"system_messages", "suppress_output", "permission", "elicitation", "initial_user_messages", "session_title",
		"watch_paths", "suppress_original_prompt", "display_content", "retry", "worktree_path", "texts",
		"terminal_sequences", "env", "results", "diagnostics"},
	"selection":  {"event", "selected", "skipped"},
	"background": {"hook", "event", "session_id", "status", "verdict", "failure", "reason", "rewake", "message", "context"},

	"results":     {"hook", "kind", "status", "verdict", "failure", "reason", "hint", "exit_code", "stderr"},
	"diagnostics": {"severity", "code", "hook", "path", "line", "message", "hint"},
	"selected":    {"hook", "by"},
	"skipped":     {"hook", "why", "detail"},
}

// expectation reads an expectation of some shape.
func expectation(data []byte, shape string) (any, error) {
	v, err := decode(data)
	if err != nil {
		return nil, err
	}
	if list, ok := v.([]any); ok != (shape == "background") {
		return nil, fmt.Errorf("want an object, and of what ran in the background a list of them")
	} else if ok && list == nil {
		v = []any{}
	}
	return v, checkKeys(v, shape)
}

// checkKeys finds keys that nothing printed can have.
func checkKeys(v any, shape string) error {
	known, ok := shapes[shape]
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := checkKeys(e, shape); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, value := range v {
			inner := key
			switch {
			case isOperator(key):
				inner = shape
			case !slices.Contains(known, key):
				return fmt.Errorf("%s has no key %q", shape, key)
			}
			if err := checkKeys(value, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

var operators = []string{"at_most", "contains", "exactly", "lacks"}

func isOperator(key string) bool { return slices.Contains(operators, key) }

// mismatches says, a line each, where got is not as wanted.
func mismatches(at string, want, got any) []string {
	if isEmpty(want) && got == nil {
		return nil
	}
	differ := []string{fmt.Sprintf("%s: want %s, got %s", at, show(want), show(got))}
	switch want := want.(type) {
	case map[string]any:
		if isOperation(want) {
			for op, x := range want {
				if !operate(op, x, got) {
					return differ
				}
			}
			return nil
		}
		object, ok := got.(map[string]any)
		if !ok {
			return differ
		}
		var all []string
		for _, key := range slices.Sorted(maps.Keys(want)) {
			all = append(all, mismatches(at+"."+key, want[key], object[key])...)
		}
		return all
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return differ
		}
		var all []string
		for i := range want {
			all = append(all, mismatches(fmt.Sprintf("%s[%d]", at, i), want[i], list[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(want, got) {
		return differ
	}
	return nil
}

func isOperation(want map[string]any) bool {
	for key := range want {
		if !isOperator(key) {
			return false
		}
	}
	return len(want) > 0
}

func operate(op string, x, got any) bool {
	switch op {
	case "exactly":
		return reflect.DeepEqual(x, got)
	case "at_most":
		n, err := x.(json.Number).Int64()
		return err == nil && size(got) <= int(n)
	}
	each, ok := x.([]any)
	if !ok {
		each = []any{x}
	}
	for _, e := range each {
		if contains(got, e) != (op == "contains") {
			return false
		}
	}
	return true
}

func contains(got, x any) bool {
	switch got := got.(type) {
	case string:
		part, ok := x.(string)
		return ok && strings.Contains(got, part)
	case []any:
		return slices.ContainsFunc(got, func(e any) bool { return len(mismatches("", x, e)) == 0 })
	}
	return false
}

func size(v any) int {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	}
	return 0
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// show prints a value for a person, the middle of a long one left out.
func show(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // what was decoded encodes
	s := strings.TrimSpace(b.String())
	if r := []rune(s); len(r) > 1200 {
		s = string(r[:900]) + " … " + string(r[len(r)-200:])
	}
	return s
}
