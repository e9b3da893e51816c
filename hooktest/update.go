package hooktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// fileOf is the name of the file that holds an expectation of a step: the file
// that is there, or the file of its event.
func (c *Case) fileOf(kind string, step int) string {
	named := func(name string) bool {
		return slices.ContainsFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
	}
	plain, numbered := kind+".json", fmt.Sprintf("%s%d.json", kind, step+1)
	if named(plain) && step == 0 || !named(numbered) && len(c.Steps) == 1 && named("event.json") {
		return plain
	}
	return numbered
}

// updated is the case with what came of it; nil = it is as expected.
func (w *world) updated() []byte {
	if len(w.now) == 0 {
		return nil
	}
	archive := &txtar.Archive{Comment: w.c.archive.Comment, Files: slices.Clone(w.c.archive.Files)}
	for _, name := range slices.Sorted(maps.Keys(w.now)) {
		at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
		if at < 0 {
			event := strings.Replace(name, "outcome", "event", 1)
			at = slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == event })
			archive.Files = slices.Insert(archive.Files, at+1, txtar.File{Name: name})
			at++
		}
		archive.Files[at].Data = w.now[name]
	}
	return txtar.Format(archive)
}

// merge is what was expected, with what was printed where that differs.
func (w *world) merge(want, got any, shape string) any {
	if len(mismatches("", w.places.placed(want), got)) == 0 {
		return want
	}
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if isOperation(want) || !ok {
			break
		}
		merged := make(map[string]any, len(want))
		for key := range want {
			merged[key] = w.merge(want[key], object[key], key)
		}
		return merged
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			break
		}
		merged := make([]any, len(want))
		for i := range want {
			merged[i] = w.merge(want[i], list[i], shape)
		}
		return merged
	}
	return w.named(prune(got, shape))
}

// prune leaves out what no expectation can name, and what is empty.
func prune(v any, shape string) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = prune(v[i], shape)
		}
		return list
	case map[string]any:
		known, bounded := shapes[shape]
		object := make(map[string]any, len(v))
		for key, value := range v {
			if !bounded || slices.Contains(known, key) && !isEmpty(value) {
				object[key] = prune(value, key)
			}
		}
		return object
	}
	return v
}

// brief is the part of an outcome that a case states by itself: the decision, and
// how each hook ended if one failed.
func brief(v any) any {
	outcome, ok := v.(map[string]any)
	if !ok {
		return v
	}
	kept := prune(outcome, "outcome").(map[string]any)
	for _, key := range []string{"event", "diagnostics", "results"} {
		delete(kept, key)
	}
	results, _ := outcome["results"].([]any)
	failed := false
	ends := make([]any, len(results))
	for i, r := range results {
		r, _ := r.(map[string]any)
		end := map[string]any{"hook": r["hook"], "status": r["status"]}
		if !isEmpty(r["failure"]) {
			failed, end["failure"] = true, r["failure"]
		}
		ends[i] = end
	}
	if failed {
		kept["results"] = ends
	}
	kept["verdict"] = outcome["verdict"]
	return kept
}

// placeholders stand for folders in the texts of a case.
var placeholders = []string{"$DIR", "$WORK", "$HOME"}

// named puts $DIR and the like in the place of the case's folders. A text that
// has such a name of its own cannot be stated whole.
func (w *world) named(v any) any {
	switch v := v.(type) {
	case string:
		for _, name := range placeholders {
			if !strings.Contains(v, name) {
				continue
			}
			longest := ""
			for part := range strings.SplitSeq(v, name) {
				if len(part) > len(longest) {
					longest = part
				}
			}
			return map[string]any{"contains": w.named(longest)}
		}
		return w.places.named(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = w.named(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			object[key] = w.named(v[key])
		}
		return object
	}
	return v
}

// encode writes an expectation, the decision first: on one line if it is short.
func encode(v any, shape string) []byte {
	text := appendValue(nil, v, shape, ", ")
	if object, ok := v.(map[string]any); ok && len(text) > 100 && len(object) > 1 {
		text = appendValue(nil, v, shape, ",\n  ")
		text = append(append([]byte("{\n  "), text[1:len(text)-1]...), "\n}"...)
	}
	return append(text, '\n')
}

func appendValue(to []byte, v any, shape, separator string) []byte {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.DeleteFunc(slices.Clone(shapes[shape]), func(k string) bool { _, ok := v[k]; return !ok })
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		to = append(to, '{')
		for i, key := range keys {
			if i > 0 {
				to = append(to, separator...)
			}
			inner := key
			if isOperator(key) {
				inner = shape
			}
			to = append(appendValue(to, key, "", ""), ": "...)
			to = appendValue(to, v[key], inner, ", ")
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		for i := range v {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = appendValue(to, v[i], shape, ", ")
		}
		return append(to, ']')
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // what was decoded encodes
	return append(to, bytes.TrimSpace(b.Bytes())...)
}
