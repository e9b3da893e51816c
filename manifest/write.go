package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// Write returns the frontmatter of a HOOK.md that declares h, with its fences and
// without the hook's name. A command without Source.Dir starts in the session's
// directory. [Parse] reads the text as a hook that equals h, but for its name, its
// ID, its source and a Syntax that is not [hook.SyntaxClaude]. The error is a value
// that TOML cannot hold, such as null; the text is without it.
func Write(h *hook.Hook) (text []byte, err error) {
	w := &writer{}
	w.lines.WriteString("+++\n")
	w.text("event", string(h.Event))
	w.text("matcher", h.Matcher)
	w.words("if", h.If)
	if !h.Kind.Info().IsDefault() {
		w.text("type", string(h.Kind))
	}
	w.command(h)
	w.params(h)
	w.fields(h)
	w.duration("timeout", h.Timeout)
	w.text("on_failure", string(h.OnFailure))
	w.text("protocol", string(h.Protocol))
	if h.State == hook.StateDisabled {
		w.value("enabled", false)
	}
	w.sandbox(h.Sandbox)
	if len(h.Env) > 0 {
		w.table("env", h.Env)
	}
	w.lines.Write(w.tables.Bytes())
	w.lines.WriteString("+++\n")
	return w.lines.Bytes(), w.err
}

// writer writes TOML. Tables follow all other keys.
type writer struct {
	lines, tables bytes.Buffer
	err           error // the first value that TOML cannot hold
}

func (w *writer) text(key, value string) {
	if value != "" {
		w.value(key, value)
	}
}

// words writes one word as a string, and several as a list.
func (w *writer) words(key string, list []string) {
	switch len(list) {
	case 0:
	case 1:
		w.value(key, list[0])
	default:
		w.value(key, list)
	}
}

// duration writes whole seconds as a number, as long as the reader does not take
// them for milliseconds.
func (w *writer) duration(key string, d time.Duration) {
	switch {
	case d == 0:
	case d%time.Second == 0 && d < 1000*time.Second:
		w.value(key, int64(d/time.Second))
	default:
		w.value(key, d.String())
	}
}

func (w *writer) command(h *hook.Hook) {
	c := h.Command
	if c == nil {
		return
	}
	w.text("command", c.Line)
	if h.Source.Dir == "" {
		w.text("cwd", decl.CwdSession)
	}
}

// fields writes the keys that have a field of the hook, where it has a value.
func (w *writer) fields(h *hook.Hook) {
	tables := make(map[string]map[string]any)
	for _, k := range decl.Keys() {
		field := k.Field(h)
		if field == nil || h.Kind.Info().Instant && k.Idle {
			continue
		}
		value := reflect.ValueOf(field).Elem()
		table, key, inner := strings.Cut(k.Name, ".")
		empty := value.IsZero() // an empty list is none, but for arguments: they say that no shell is used
		if inner && value.Kind() == reflect.Slice {
			empty = value.Len() == 0
		}
		field = value.Interface()
		if d, ok := field.(time.Duration); ok {
			field = d.String()
		}
		switch {
		case empty:
		case !inner:
			w.value(k.Name, field)
		case tables[table] == nil:
			tables[table] = map[string]any{key: field}
		default:
			tables[table][key] = field
		}
	}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		w.table(table, tables[table])
	}
}

// params writes the keys of the hook's kind, in the order of the reference.
func (w *writer) params(h *hook.Hook) {
	for _, p := range decl.Keys() {
		raw, ok := h.Params[decl.Camel(p.Name)]
		if !ok || !slices.Contains(p.Kinds, h.Kind) {
			continue
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			w.fail(p.Name, err)
			continue
		}
		v, err := tomlValue(v)
		if err != nil {
			w.fail(p.Name, err)
		} else if _, isTable := v.(map[string]any); isTable {
			w.table(p.Name, v)
		} else {
			w.value(p.Name, v)
		}
	}
}

func (w *writer) sandbox(s *hook.Sandbox) {
	if s == nil {
		return
	}
	table := map[string]any{"mode": string(s.Mode)}
	for key, list := range map[string][]string{"allow_write": s.AllowWrite, "allow_read": s.AllowRead, "deny_read": s.DenyRead, "allow_net": s.AllowNet} {
		if list != nil {
			table[key] = list
		}
	}
	if s.Memory != 0 {
		table["memory"] = strconv.FormatInt(s.Memory, 10) + "B"
	}
	w.table("sandbox", table)
}

func (w *writer) fail(key string, err error) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: %w", key, err)
	}
}

// value writes a line. A text of several lines keeps them where TOML can.
func (w *writer) value(key string, v any) {
	if text, ok := v.(string); ok {
		switch {
		case strings.Contains(text, "\n") && !strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unwritable) &&
			!strings.Contains(text, "'''") && !strings.HasSuffix(text, "'"):
			fmt.Fprintf(&w.lines, "%s = '''\n%s'''\n", key, text)
			return
		case strings.ContainsFunc(text, unwritable) || strings.Contains(text, "'"):
		case strings.ContainsAny(text, "\"\\"):
			fmt.Fprintf(&w.lines, "%s = '%s'\n", key, text)
			return
		}
	}
	w.encode(&w.lines, key, v)
}

// unwritable reports whether a literal string of one line cannot hold r.
func unwritable(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == '\uFFFD' }

func (w *writer) table(key string, v any) {
	w.tables.WriteByte('\n')
	w.encode(&w.tables, key, v)
}

func (w *writer) encode(into *bytes.Buffer, key string, v any) {
	var b bytes.Buffer
	enc := toml.NewEncoder(&b)
	enc.Indent = ""
	if err := enc.Encode(map[string]any{key: v}); err != nil {
		w.fail(key, err)
		return
	}
	into.Write(b.Bytes())
}

// tomlValue makes a TOML value of a JSON value.
func tomlValue(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case nil:
		return nil, fmt.Errorf("TOML has no null")
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case []any:
		for i := range v {
			if v[i], err = tomlValue(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = tomlValue(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
