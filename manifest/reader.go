package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// reader turns a document into hooks, and notes what is odd on the way.
type reader struct {
	src   Source
	doc   *document
	first int // the file's line that the document begins on
	notes []hook.Diagnostic

	lenient bool   // written for a host whose keys are not ours to judge: no error is one
	wrong   string // the first error about the manifest as a whole
}

// remark is a diagnostic in the making.
type remark struct {
	code string
	key  string // the path of the key that it is about
	text string // what is wrong with the key, or if there is none at all
	hint string
}

// fail notes an error that makes the whole manifest invalid.
func (r *reader) fail(m remark) {
	if r.lenient {
		r.warn(m)
		return
	}
	d := r.note(hook.SeverityError, m)
	if r.wrong == "" {
		r.wrong = d.Message
	}
}

func (r *reader) warn(m remark) { r.note(hook.SeverityWarning, m) }

func (r *reader) note(severity hook.Severity, m remark) hook.Diagnostic {
	d := hook.Diagnostic{
		Severity: severity, Code: m.code, Path: r.src.Path, Line: r.line(m.key), Message: m.text, Hint: m.hint,
	}
	if m.key != "" {
		d.Message = clip(m.key, 60) + ": " + m.text
	}
	r.notes = append(r.notes, d)
	return d
}

// line is the file's line of a key, or the one of the opening fence.
func (r *reader) line(key string) int {
	if n := r.doc.line(key); n > 0 {
		return r.first + n - 1
	}
	return max(1, r.first-1)
}

// sort brings the notes into the order of their lines.
func (r *reader) sort() {
	slices.SortStableFunc(r.notes, func(a, b hook.Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
}

// section is a table of the document.
type section struct {
	*reader
	path   string // "" = the document itself
	values map[string]any
}

// at is the path of a key.
func (s section) at(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

// get returns a key's value, and the key as it was spelt: snake_case and
// camelCase are both taken. A key without a value, as YAML can have it, counts
// as absent.
func (s section) get(key string) (value any, spelt string) {
	if value = s.values[key]; value == nil {
		if camel, ok := camelCase[key]; ok && s.values[camel] != nil {
			return s.values[camel], camel
		}
	}
	return value, key
}

// text returns a string, or "" if there is none.
func (s section) text(key string) string {
	v, spelt := s.get(key)
	if text, ok := v.(string); ok || v == nil {
		return text
	}
	s.wrongType(spelt, "a string", v)
	return ""
}

// caption is text that decides nothing, so that a wrong one does no harm.
func (s section) caption(key string) string {
	v, spelt := s.get(key)
	text, ok := v.(string)
	if !ok && v != nil {
		s.warn(remark{"wrong_type", s.at(spelt), "want a string, got " + typeName(v), ""})
	}
	return text
}

// flag returns a boolean, or otherwise if there is none.
func (s section) flag(key string, otherwise bool) bool {
	v, spelt := s.get(key)
	if v == nil {
		return otherwise
	}
	flag, ok := v.(bool)
	if !ok {
		s.wrongType(spelt, "true or false", v)
		return otherwise
	}
	return flag
}

// integer returns an integer, or 0 if there is none.
func (s section) integer(key string) int {
	v, spelt := s.get(key)
	n, ok := v.(int64)
	if !ok && v != nil || int64(int(n)) != n {
		s.wrongType(spelt, "an integer", v)
		return 0
	}
	return int(n)
}

// choice returns one of the words, or "" if there is none or another.
func (s section) choice(key string, words []string) string {
	word := s.text(key)
	if word == "" || slices.Contains(words, word) {
		return word
	}
	_, spelt := s.get(key)
	m := remark{"unknown_value", s.at(spelt), fmt.Sprintf("want %s, got %s", either(words), quote(word)), ""}
	if near := hook.Nearest(word, words); near != "" {
		m.hint = "did you mean " + quote(near) + "?"
	}
	s.fail(m)
	return ""
}

// strings returns a list of strings; a string alone is a list of one. It is nil
// if there is none, and empty if it is empty.
func (s section) strings(key string) []string {
	v, spelt := s.get(key)
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		list := make([]string, 0, len(v))
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				s.wrongType(spelt, "a list of strings", item)
				return nil
			}
			list = append(list, text)
		}
		return list
	default:
		s.wrongType(spelt, "a list of strings", v)
		return nil
	}
}

// rules returns permission rules: a string alone is one, and "" is none. A list
// has no place for an empty rule, which would match every call.
func (s section) rules(key string) []string {
	list := s.strings(key)
	v, spelt := s.get(key)
	if v == "" {
		return nil
	}
	if list != nil && (len(list) == 0 || slices.Contains(list, "")) {
		s.fail(remark{"unknown_value", s.at(spelt), "expected one or more rules, got an empty one or none", "leave the key out to match every call"})
		return nil
	}
	return list
}

// table returns a table, without values if there is none.
func (s section) table(key string) section {
	v, spelt := s.get(key)
	values, ok := v.(map[string]any)
	if !ok && v != nil {
		s.wrongType(spelt, "a table", v)
	}
	return section{reader: s.reader, path: s.at(spelt), values: values}
}

func (s section) wrongType(key, want string, got any) {
	s.fail(remark{"wrong_type", s.at(key), fmt.Sprintf("want %s, got %s", want, typeName(got)), typeHint(want, got)})
}

// check warns of keys that are none of ours, and fails for one that stands there
// in both its spellings.
func (s section) check(known keySet) {
	var strange []string
	for key := range s.values {
		if camel, ok := camelCase[key]; ok && s.values[camel] != nil {
			s.fail(remark{"duplicate_key", s.at(camel), "the same key as " + key, "keep one of them"})
		}
		if !known.set[key] && !strings.HasPrefix(key, "_") && !strings.HasPrefix(key, "$") {
			strange = append(strange, key)
		}
	}
	slices.Sort(strange)
	const most = 20
	if more := len(strange) - most; more > 0 {
		s.warn(remark{"unknown_key", s.path, fmt.Sprintf("there are %d more keys without effect", more), ""})
		strange = strange[:most]
	}
	for _, key := range strange {
		m := remark{code: "unknown_key", key: s.at(key), text: "no such key; it has no effect"}
		if near := hook.Nearest(key, known.list); near != "" {
			m.hint = "did you mean " + near + "?"
		}
		s.warn(m)
	}
}
