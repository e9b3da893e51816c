package decl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// The bounds of what is said of one file.
const (
	maxNotes   = 500
	maxErrors  = 2_500 // with errors
	maxStrange = 20    // unknown keys that are reported one by one
)

// Reader collects what is odd about one file. It is for one goroutine.
type Reader struct {
	Path  string
	Notes []hook.Diagnostic
	// Lenient makes warnings of errors: the file is written for another host,
	// whose keys are not ours to judge.
	Lenient bool

	told    map[string]bool // what is said once a file
	strange int             // unknown keys
	more    int             // notes over the bound

	strangeLine int // of the first unknown key over the bound
}

// NewReader returns a Reader of the file at path.
func NewReader(path string) *Reader { return &Reader{Path: path, told: make(map[string]bool)} }

// Note adds a diagnostic, with the file's path.
func (r *Reader) Note(d hook.Diagnostic) {
	if n := len(r.Notes); n >= maxErrors || n >= maxNotes && d.Severity != hook.SeverityError {
		r.more++
		return
	}
	d.Path = r.Path
	r.Notes = append(r.Notes, d)
}

// Error adds an error about a line.
func (r *Reader) Error(line int, code, message, hint string) {
	r.Note(*bad(code, line, message, hint))
}

// Warn adds a warning about a line.
func (r *Reader) Warn(line int, code, message, hint string) {
	r.Note(lax(code, line, message, hint))
}

// Once reports whether something is said for the first time of a file: with that
// code, about the same thing.
func (r *Reader) Once(code, about string) bool {
	key := code + "\x00" + about
	first := !r.told[key]
	r.told[key] = true
	return first
}

// Finish brings the notes into the order of their lines, and says how many there
// are over the bound.
func (r *Reader) Finish() []hook.Diagnostic {
	if more := r.strange - maxStrange; more > 0 {
		r.Warn(r.strangeLine, "unknown_key", fmt.Sprintf("there are %d more keys without effect", more), "")
	}
	if r.more > 0 {
		r.Notes = append(r.Notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "too_many", Path: r.Path, Line: 1,
			Message: fmt.Sprintf("there are %d more things to say of this file", r.more), Hint: "begin with those that are said"})
	}
	slices.SortStableFunc(r.Notes, func(a, b hook.Diagnostic) int { return a.Line - b.Line })
	return r.Notes
}

// Table reads the keys of a table. A key may stand in snake_case or in camelCase.
// A value that is wrong is reported, and counts as absent.
type Table struct {
	*Reader
	At    string // where it stands, for messages: PreToolUse[0].hooks[1]; "" = the file
	Node  *Node
	keys  map[string]Pair // by snake_case
	wrong *string         // the first error of it and of the tables in it
}

// Table returns the table of a node, which may be nil. A key that stands twice
// is an error.
func (r *Reader) Table(at string, n *Node) *Table { return r.table(at, n, new(string)) }

func (r *Reader) table(at string, n *Node, wrong *string) *Table {
	if n == nil {
		n = &Node{Line: 1}
	}
	t := &Table{Reader: r, At: at, Node: n, keys: make(map[string]Pair, len(n.Pairs())), wrong: wrong}
	for _, p := range n.Pairs() {
		key := Snake(p.Key)
		if before, twice := t.keys[key]; twice && !IsComment(p.Key) {
			t.failAt("duplicate_key", p.Line, p.Key, fmt.Sprintf("stands here a second time, after %s on line %d", before.Key, before.Line), "keep one of them")
			continue
		}
		t.keys[key] = p
	}
	return t
}

// Alias has keys read under other names. A key that stands under both is an error.
func (t *Table) Alias(names map[string]string) {
	for _, p := range t.Node.Pairs() {
		to, ok := names[Snake(p.Key)]
		switch before, twice := t.keys[to]; {
		case !ok:
		case twice:
			t.failAt("duplicate_key", p.Line, p.Key, fmt.Sprintf("means the same as %s on line %d", before.Key, before.Line), "keep one of them")
		default:
			t.keys[to] = p
		}
	}
}

// Wrong is the first error about the table, or "".
func (t *Table) Wrong() string { return *t.wrong }

// Inherit takes over the first error of another table.
func (t *Table) Inherit(other *Table) {
	if other.Wrong() != "" {
		*t.wrong = other.Wrong()
	}
}

// Fail adds an error about a key, or about the table where key is "".
func (t *Table) Fail(code, key, message, hint string) {
	t.failAt(code, t.Line(key), t.Spelt(key), message, hint)
}

// FailAt adds an error about a line of the table.
func (t *Table) failAt(code string, line int, key, message, hint string) {
	message = t.About(key) + message
	if t.Lenient {
		t.Reader.Warn(line, code, message, hint)
		return
	}
	if *t.wrong == "" {
		*t.wrong = message
	}
	t.Error(line, code, message, hint)
}

// Warn adds a warning about a key, or about the table where key is "".
func (t *Table) Warn(code, key, message, hint string) {
	t.Reader.Warn(t.Line(key), code, t.About(t.Spelt(key))+message, hint)
}

// Report adds problems of the table's keys: errors.
func (t *Table) Report(problems []hook.Diagnostic) {
	for _, p := range problems {
		t.Fail(p.Code, p.Key, p.Message, p.Hint)
	}
}

// About begins a message about a key.
func (t *Table) About(key string) string {
	switch key = phrase.Clip(key, 60); {
	case t.At == "" && key == "":
		return ""
	case t.At == "":
		return key + ": "
	case key == "":
		return t.At + ": "
	}
	return t.At + "." + key + ": "
}

// Line is that of a key, or of the table. A key may be a path into other tables.
func (t *Table) Line(key string) int {
	if p, ok := t.keys[key]; ok {
		return p.Line
	}
	outer, inner, _ := strings.Cut(key, ".")
	if p, ok := t.keys[outer]; ok {
		for _, below := range p.Node.Pairs() {
			if Snake(below.Key) == Snake(inner) {
				return below.Line
			}
		}
		return p.Line
	}
	return t.Node.Line
}

// Spelt is a key as the file has it.
func (t *Table) Spelt(key string) string {
	if p, ok := t.keys[key]; ok {
		return p.Key
	}
	return key
}

// Get returns a key's value. It is nil for one without, as YAML can have it.
func (t *Table) Get(key string) *Node {
	if p, ok := t.keys[key]; ok && p.Node.Value != nil {
		return p.Node
	}
	return nil
}

// Has reports whether one of the keys has a value.
func (t *Table) Has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return t.Get(key) != nil })
}

// Only warns of the keys that have no effect, and of those
// that have no value.
func (t *Table) Only(all []string) {
	t.Valueless(all)
	t.Unknown(all, func(key string) bool { return slices.Contains(all, key) })
}

// Unknown warns of keys without effect, once a file for each: the keys that known,
// which gets them in snake_case, does not know. all are those to suggest.
func (t *Table) Unknown(all []string, known func(key string) bool) {
	for _, p := range t.Node.Pairs() {
		if key := Snake(p.Key); !known(key) && !IsComment(p.Key) {
			t.Strange(p, t.About(cmp.Or(p.Key, `""`))+"no such key; it has no effect", all)
		}
	}
}

// Valueless warns of those of the keys that have no value, as YAML and JSON can
// have them.
func (t *Table) Valueless(all []string) {
	for _, p := range t.Node.Pairs() {
		if p.Node.Value == nil && slices.Contains(all, Snake(p.Key)) {
			t.Reader.Warn(p.Line, "no_value", t.About(p.Key)+"has no value, so it has no effect", "give it one, or leave it out")
		}
	}
}

// Full reports whether no more unknown keys are reported one by one.
func (r *Reader) Full() bool { return r.strange >= maxStrange }

// Strange reports an unknown key, and which of all it was perhaps meant to be.
func (r *Reader) Strange(p Pair, message string, all []string) {
	if !r.Once("unknown_key", p.Key) {
		return
	}
	if r.strange++; r.strange > maxStrange {
		if r.strange == maxStrange+1 {
			r.strangeLine = p.Line
		}
		return
	}
	hint, key := "", Snake(p.Key)
	switch near := hook.Nearest(key, all); {
	case slices.Contains(all, key):
		hint = "it counts in another place: a matcher on a group, the other keys on its hooks"
	case near != "":
		hint = "did you mean " + near + "?"
	}
	r.Warn(p.Line, "unknown_key", message, hint)
}
