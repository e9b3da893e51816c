package dialect

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// configReader turns a parsed file into hooks, and notes what is odd on the
// way.
type configReader struct {
	src    ConfigSource
	p      *product
	prefix string // before the names of hooks: that of the table that they are in
	config Config
	names  map[string]int
	told   map[string]bool // what is said once a file
	more   int             // notes over the limit

	strange    int               // unknown keys
	translated map[string]string // matchers
}

func newConfigReader(src ConfigSource) *configReader {
	return &configReader{src: src, names: make(map[string]int), told: make(map[string]bool), translated: make(map[string]string)}
}

// file reads a file whose product is known.
func (r *configReader) file(f recognized, doc *node) {
	r.p, r.config.Product = f.product, f.product.name
	if !doc.isTable() {
		r.broken(&flaw{"wrong_type", doc.line, "want a table, got " + doc.what(), `write {"hooks": {…}}`})
		return
	}
	if r.p == &calibanConfig && path.Base(slashed(r.src.Path)) == "hooks.toml" {
		r.note(hook.SeverityWarning, 1, "deprecated", "caliban's hooks.toml is deprecated", "move its hooks into caliban's settings")
	}
	if base := path.Base(slashed(r.src.Path)); r.p.settings && strings.Contains(base, "settings") {
		r.settings(doc)
	}
	switch f.form {
	case formManifest:
		r.manifest(doc)
	case formNamed:
		r.named(doc)
	case formAction:
		r.action(doc)
	default:
		r.hooksOf(doc, f.form)
	}
	if f.form == formSettings {
		r.singles(doc)
	}
	if f.by == byName && len(r.config.Notes)+len(r.config.Hooks)+len(r.config.Refs) == 0 && doc.at("hooks") == nil {
		r.note(hook.SeverityInfo, 1, "no_hooks", "it declares no hooks", "")
	}
	if r.p == &geminiConfig {
		r.geminiSwitches(doc)
	}
	r.duplicates()
	if r.more > 0 {
		r.config.Notes = append(r.config.Notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "too_many", Path: r.src.Path,
			Line: 1, Message: fmt.Sprintf("there are %d more things to say of this file", r.more), Hint: "begin with those that are said"})
	}
}

// hooksOf reads the hooks under their key, or where the events stand at the top.
func (r *configReader) hooksOf(doc *node, f form) {
	table, at := eventTable(doc)
	switch {
	case table == nil && f == formHooks:
		r.note(hook.SeverityError, 1, "no_hooks", "it declares no hooks", `put them under the key "hooks", by event`)
	case table == nil:
	case at == atHooksKey:
		r.hooksKeys(doc)
		r.eventsBeside(doc)
	default:
		if r.p != &factoryConfig {
			r.note(hook.SeverityWarning, table.line, "unwrapped", `the events stand at the top of the file, and not under "hooks"`,
				`write {"hooks": {…}}: other readers pass them over`)
		}
		r.events(table)
	}
}

// eventsBeside reports events that stand beside "hooks": no product reads them.
func (r *configReader) eventsBeside(doc *node) {
	for _, p := range doc.pairs() {
		if r.p.knows(p.key) && p.node.value != nil {
			r.note(hook.SeverityError, p.line, "misplaced_event", quote(p.key)+` stands beside "hooks", so its hooks are not read`, `move it into "hooks"`)
		}
	}
}

// hooksKeys reads what stands under "hooks", even where it stands twice.
func (r *configReader) hooksKeys(doc *node) {
	first := 0
	for _, p := range doc.pairs() {
		if p.key != "hooks" {
			continue
		}
		if first > 0 {
			r.note(hook.SeverityWarning, p.line, "duplicate_key",
				fmt.Sprintf(`"hooks" stands here a second time, after line %d; both are read here, other readers take one`, first), "join them")
		}
		first = p.line
		r.hooksValue(p.node, 0)
	}
}

// broken is a file that cannot be read at all: a hook that is invalid, so that
// it is not taken for a file without hooks.
func (r *configReader) broken(bad *flaw) {
	base := r.base()
	h := &hook.Hook{Name: base, ID: HookID(r.src.Scope, r.src.Package, base), Kind: hook.KindCommand,
		Scope: r.src.Scope, Source: r.src.Source, State: hook.StateInvalid, Why: bad.message}
	h.Source.Line = bad.line
	r.config.Hooks = append(r.config.Hooks, h)
	r.note(hook.SeverityError, bad.line, bad.code, bad.message, bad.hint)
}

// base is what hooks without names are named after: the file, and where several
// products' files share a scope, its product.
func (r *configReader) base() string {
	base := path.Base(slashed(r.src.Path))
	if r.src.Product == "" || r.src.Product == tenterhookConfig.name || r.src.Package != "" {
		return base
	}
	return r.src.Product + "/" + base
}

// take notes what a parser let pass.
func (r *configReader) take(lax []flaw) {
	for _, f := range lax {
		r.note(hook.SeverityWarning, f.line, f.code, f.message, f.hint)
	}
}

func (r *configReader) note(severity hook.Severity, line int, code, message, hint string) {
	most := maxConfigNotes
	if severity == hook.SeverityError {
		most += maxConfigHooks // none of them has more than a few
	}
	if len(r.config.Notes) >= most {
		r.more++
		return
	}
	r.config.Notes = append(r.config.Notes, hook.Diagnostic{
		Severity: severity, Code: code, Path: r.src.Path, Line: line, Message: message, Hint: hint,
	})
}

// once notes what is said once a file.
func (r *configReader) once(severity hook.Severity, line int, code, about, message, hint string) {
	if key := code + "\x00" + about; !r.told[key] {
		r.told[key] = true
		r.note(severity, line, code, message, hint)
	}
}

// entry is a table that describes a hook, or several: an event's group, or a
// handler.
type entry struct {
	*configReader
	at      string // where it stands, for messages: PreToolUse[0].hooks[1]
	table   *node
	keys    map[string]pair // by snake_case
	first   int             // of the notes, the first that is about it
	pattern string          // the matcher, as the product has it
	wrong   string          // the first error
}

// newEntry reads the keys of a table. Which of them count is the product's
// choice.
func (r *configReader) newEntry(at string, table *node) *entry {
	e := &entry{configReader: r, at: at, table: table, first: len(r.config.Notes), keys: make(map[string]pair, len(table.pairs()))}
	for _, p := range table.pairs() {
		key := snake(p.key)
		if before, twice := e.keys[key]; twice && !isComment(p.key) {
			e.fail("duplicate_key", p.line, p.key, fmt.Sprintf("stands here a second time, after line %d", before.line), "keep one of them")
			continue
		}
		e.keys[key] = p
	}
	return e
}

// fail notes an error that makes the entry's hooks invalid.
func (e *entry) fail(code string, line int, key, message, hint string) {
	message = e.about(key) + message
	if e.wrong == "" {
		e.wrong = message
	}
	e.note(hook.SeverityError, line, code, message, hint)
}

func (e *entry) warn(code, key, message, hint string) {
	e.note(hook.SeverityWarning, e.line(key), code, e.about(key)+message, hint)
}

func (e *entry) about(key string) string {
	if key == "" {
		return e.at + ": "
	}
	return e.at + "." + shorten(key, 60) + ": "
}

// line is that of a key, or of the table.
func (e *entry) line(key string) int {
	if p, ok := e.keys[key]; ok {
		return p.line
	}
	return e.table.line
}

// get returns a key's value; null counts as absent.
func (e *entry) get(key string) *node {
	if p, ok := e.keys[key]; ok && p.node.value != nil {
		return p.node
	}
	return nil
}

func (e *entry) wrongType(key, want string, got *node) {
	hint := ""
	switch got.value.(type) {
	case bool, json.Number:
		if want == "a string" {
			hint = "put it in quotes"
		}
	}
	e.fail("wrong_type", e.line(key), e.keys[key].key, "want "+want+", got "+got.what(), hint)
}

func (e *entry) str(key string) string {
	n := e.get(key)
	if n == nil {
		return ""
	}
	s, ok := n.value.(string)
	if !ok {
		e.wrongType(key, "a string", n)
	}
	return s
}

// caption is text that decides nothing, so that a wrong one does no harm.
func (e *entry) caption(key string) string { return e.get(key).text() }

func (e *entry) integer(key string) int {
	n := e.get(key)
	if n == nil {
		return 0
	}
	if v, ok := n.value.(json.Number); ok {
		if i, err := strconv.Atoi(v.String()); err == nil {
			return i
		}
	}
	e.wrongType(key, "an integer", n)
	return 0
}

// strings returns a list of strings: nil if there is none, and empty if it is
// empty or wrong.
func (e *entry) strings(key string) []string {
	n := e.get(key)
	if n == nil {
		return nil
	}
	items, ok := n.value.([]*node)
	if !ok {
		e.wrongType(key, "a list of strings", n)
		return []string{}
	}
	list := make([]string, 0, len(items))
	for _, item := range items {
		s, ok := item.value.(string)
		if !ok {
			e.wrongType(key, "a list of strings", item)
			return []string{}
		}
		list = append(list, s)
	}
	return list
}

// rules returns permission rules: one, or in our own settings a list. "" is none,
// and a list has no place for it.
func (e *entry) rules(key string) []string {
	n := e.get(key)
	if n == nil || n.list() == nil || e.p != &tenterhookConfig {
		if rule := e.str(key); rule != "" {
			return []string{rule}
		}
		return nil
	}
	list := e.strings(key)
	if e.wrong == "" && (len(list) == 0 || slices.Contains(list, "")) {
		e.fail("unknown_value", e.line(key), key, "expected one or more rules, got an empty one or none", "leave the key out to match every call")
	}
	return list
}

// word returns one of the words, or "" if there is none or another.
func (e *entry) word(key string, words []string) string {
	word := e.str(key)
	if word == "" || slices.Contains(words, word) {
		return word
	}
	hint := "one of " + strings.Join(words, ", ")
	if near := hook.Nearest(word, words); near != "" {
		hint = "did you mean " + quote(near) + "?"
	}
	e.fail("unknown_value", e.line(key), e.keys[key].key, "there is no "+quote(word)+" here", hint)
	return ""
}

// duration reads a time: a number of units, or text like "500ms" and "2m". 0
// stands for the default, as if the key were absent.
func (e *entry) duration(key string, unit time.Duration) time.Duration {
	n := e.get(key)
	if n == nil {
		return 0
	}
	wrong := func(why string) time.Duration {
		e.fail("bad_"+key, e.line(key), e.keys[key].key, "want "+unitName(unit)+` or a duration like "5s", got `+n.what()+why, "")
		return 0
	}
	var d time.Duration
	switch v := n.value.(type) {
	case string:
		var err error
		if d, err = time.ParseDuration(v); err != nil {
			return wrong("")
		}
	case json.Number:
		f, err := v.Float64()
		if e.p.millis && f >= 1000 {
			unit = time.Millisecond
		}
		switch {
		case err != nil || math.Abs(f)*float64(unit) >= math.MaxInt64:
			return wrong(", which is too long")
		case unit == time.Second && f >= 1000:
			e.warn("milliseconds", key, fmt.Sprintf("%s seconds are %v", v, time.Duration(f)*time.Second), "if milliseconds are meant, divide it by 1000")
		case unit == time.Millisecond && f > 0 && f < 100:
			e.warn("milliseconds", key, fmt.Sprintf("the unit is milliseconds here, so it has %s ms", v), "if seconds are meant, multiply it by 1000")
		}
		d = time.Duration(f * float64(unit))
	default:
		return wrong("")
	}
	switch {
	case d < 0:
		return wrong(", which is negative")
	case d == 0:
		e.warn("zero_"+key, key, "0 means the default", "leave the key out, or give a time")
	}
	return d
}

func unitName(unit time.Duration) string {
	if unit == time.Millisecond {
		return "milliseconds"
	}
	return "seconds"
}

// sub is a table under a key, nil if there is none.
func (e *entry) sub(key string) *entry {
	n := e.get(key)
	if n == nil {
		return nil
	}
	if !n.isTable() {
		e.wrongType(key, "a table", n)
		return nil
	}
	return e.newEntry(e.at+"."+key, n)
}

// unknown warns of keys that have no effect, once a file for each.
func (e *entry) unknown(known func(key string) bool, all []string) {
	for _, p := range e.table.pairs() {
		key := snake(p.key)
		if known(key) || isComment(p.key) || slices.Contains(e.p.ignored, key) {
			continue
		}
		if e.get("command") == nil && slices.Contains(systemCommands, key) {
			continue // it is taken for the command, and that is said
		}
		e.strangeKey(p, e.about(p.key)+"no such key; it has no effect", key, all)
	}
}

// strangeKey tells of an unknown key, and which one it was perhaps meant to be.
func (r *configReader) strangeKey(p pair, message, key string, all []string) {
	if r.told["unknown_key\x00"+p.key] {
		return
	}
	if r.strange++; r.strange > maxUnknownKeys {
		r.once(hook.SeverityWarning, p.line, "unknown_key", "", "there are more keys without effect", "")
		return
	}
	hint := ""
	switch near := hook.Nearest(key, all); {
	case slices.Contains(all, key):
		hint = "it counts in another place: a matcher on a group, the other keys on its hooks"
	case near != "":
		hint = "did you mean " + near + "?"
	}
	r.once(hook.SeverityWarning, p.line, "unknown_key", p.key, message, hint)
}
