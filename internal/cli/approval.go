package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

// What is shown of the files of one hook at most.
const (
	shownFiles = 20  // by name; the rest is counted
	shownTexts = 12  // by content
	shownLines = 200 // of one text
	shownLine  = 500 // characters of one line
)

// show prints what would be approved: the facts first, then what changed, the
// files and their texts, and at the end once more what runs, so that nothing
// that comes from files scrolls it away.
func (a *app) show(reg *registry.Registry, s *registry.Subject, seal *trust.Seal, answers *bufio.Scanner) {
	p := a.newPage(answers)
	p.line(p.style.bold(factText(s.ID())))
	var h *hook.Hook
	if s.Plugin {
		p.fact("source", s.Path())
	} else {
		h = s.Hooks[0]
		p.fact("source", h.Source.Path+lineSuffix(h.Source.Line))
	}
	for _, f := range facts(seal.Approval().Definition) {
		p.fact(f.name, f.value)
	}
	if h != nil && h.Command != nil { // others start nothing
		p.startsIn(h)
		p.fact("in force", cmp.Or(sandboxNote(inForce(reg, h)), "sandbox: none, it runs with all your rights"))
	}
	unbound := unboundNote(seal.Unbound())
	if unbound != "" {
		p.line("  " + p.style.yellow(factText(unbound)))
	}
	if len(s.Verdict.Changes) > 0 && s.Verdict.Seal != nil { // else it was never approved: everything is new
		a.showChanges(p, reg, seal, s.Verdict.Changes)
	}
	bound := seal.Approval()
	p.files(bound.Definition, bound.Files, bound.Folder, seal.Text)
	p.runs(s.ID(), bound.Definition)
	if unbound != "" {
		p.line("  " + p.style.yellow(factText(unbound)))
	}
	p.end()
}

// startsIn says where a command starts, if not in its folder.
func (p *page) startsIn(h *hook.Hook) {
	if h.Source.Dir == "" {
		p.fact("starts in", "the session's directory")
	}
}

// runs says once more what runs.
func (p *page) runs(id string, definition []byte) {
	p.line(p.style.bold(factText(id)) + " would run:")
	for _, f := range facts(definition) {
		if slices.Contains(running, f.name) || strings.HasPrefix(f.name, "args[") || f.name == "env" || strings.HasPrefix(f.name, "env[") || strings.HasPrefix(f.name, "env.") || strings.HasPrefix(f.name, "sandbox.") {
			p.fact(f.name, f.value)
		}
	}
}

// inForce is the sandbox that a hook gets, also where it declares none.
func inForce(reg *registry.Registry, h *hook.Hook) *hook.Sandbox {
	for _, l := range reg.List() {
		if l.Hook.ID == h.ID && l.Hook.Source == h.Source {
			return l.Hook.Sandbox
		}
	}
	return h.Sandbox
}

// running are the facts that say what runs, for a last look.
var running = []string{"sandbox", "command", "url", "server", "tool", "prompt", "plugin", "shell", "decision", "text", "reason"}

func lineSuffix(line int) string {
	if line == 0 {
		return ""
	}
	return ":" + strconv.Itoa(line)
}

func (a *app) showChanges(p *page, reg *registry.Registry, seal *trust.Seal, changes []trust.Change) {
	for i, change := range changes {
		if i == shownFiles {
			p.line(fmt.Sprintf("  and %s more", phrase.Count(len(changes)-i, "change")))
			return
		}
		p.line("  " + p.style.yellow(factText(change.String())))
		p.text(reg.Approvals().Diff(seal, change), "    ")
	}
}

// fact is one thing that decides what runs, when or with what policy.
type fact struct{ name, value string }

// facts flattens a definition as it is bound, so that nothing that is bound is
// left out.
func facts(definition json.RawMessage) []fact {
	var entries []map[string]json.RawMessage
	if err := json.Unmarshal(definition, &entries); err != nil {
		return []fact{{"definition", string(definition)}}
	}
	var list []fact
	self := 0 // a plugin itself, which is the first, listens to nothing
	if len(entries) > 0 && entries[0]["events"] == nil && string(entries[0]["type"]) == `"plugin"` {
		self = 1
	}
	for i, e := range entries {
		if n := i + 1 - self; n > 0 && len(entries) > 1 {
			list = append(list, fact{"hook", fmt.Sprintf("%d of %d", n, len(entries)-self)})
		}
		for _, d := range []fact{{"timeout", `"the default of its kind"`}, {"on_failure", `"continue"`}, {"sandbox", `"that of its scope"`}} {
			_, declared := e[d.name]
			_, starts := e["command"]
			if box := d.name == "sandbox"; !declared && (i < self && box || i >= self && (starts || !box)) {
				e[d.name] = json.RawMessage(d.value)
			}
		}
		for _, key := range inOrder(e) {
			list = flatten(list, key, e[key])
		}
	}
	return list
}

// inOrder sorts keys: what matters most first, the rest by name.
func inOrder(e map[string]json.RawMessage) []string {
	first := []string{"events", "matcher", "syntax", "if", "type", "command", "args", "shell", "worker", "params", "env", "sandbox", "timeout", "on_failure"}
	keys := slices.DeleteFunc(slices.Clone(first), func(k string) bool { _, ok := e[k]; return !ok })
	for _, key := range slices.Sorted(maps.Keys(e)) {
		if !slices.Contains(first, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func flatten(list []fact, name string, raw json.RawMessage) []fact {
	var text string
	var object map[string]json.RawMessage
	var array []json.RawMessage
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return append(list, fact{name, text})
	case json.Unmarshal(raw, &object) == nil && len(object) > 0:
		for _, key := range slices.Sorted(maps.Keys(object)) {
			full := name + "." + key
			if name == "params" {
				full = key
			}
			list = flatten(list, full, object[key])
		}
		return list
	case json.Unmarshal(raw, &array) == nil && name == "args" && len(array) == 0:
		return append(list, fact{name, "none, and no shell"})
	case json.Unmarshal(raw, &array) == nil && len(array) > 0:
		for i, one := range array {
			if len(array) > 1 || name == "args" {
				list = flatten(list, fmt.Sprintf("%s[%d]", name, i+1), one)
			} else {
				list = flatten(list, name, one)
			}
		}
		return list
	}
	return append(list, fact{name, string(raw)})
}

// page prints lines, and on a terminal a screen at a time.
type page struct {
	a             *app
	style         style
	answers       *bufio.Scanner
	width, height int // height 0 = not paged
	printed       int
	skip          bool // to the end
}

func (a *app) newPage(answers *bufio.Scanner) *page {
	p := &page{a: a, style: a.styleOf(a.Err), answers: answers, width: 100}
	if f, ok := a.Err.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			p.width = min(max(w, 40), 200)
			if a.interactive() {
				p.height = max(h, 10)
			}
		}
	}
	return p
}

// line prints a line that is safe to print.
func (p *page) line(text string) {
	if p.height > 0 && p.printed == p.height-2 && !p.skip {
		fmt.Fprint(p.a.Err, p.style.dim("-- more: Enter continues, q goes to the end -- "))
		p.printed = 0
		p.skip = !p.answers.Scan() || strings.HasPrefix(p.answers.Text(), "q")
	}
	p.printed++
	fmt.Fprintln(p.a.Err, text)
}

// end shows what comes last although the rest was skipped.
func (p *page) end() { p.height = 0 }

// fact prints a name and a value. A value that is longer than a line continues in
// lines that begin with "…", where it cannot pass for another fact.
func (p *page) fact(name, value string) {
	name = factText(name)
	lead := fmt.Sprintf("  %-11s ", name)
	for _, piece := range wrapped(factText(value), max(p.width-utf8.RuneCountInString(lead)-1, 20)) {
		p.line(lead + piece)
		lead = strings.Repeat(" ", 12) + "… "
	}
}

// wrapped cuts text into pieces of a width. It counts each character alone, where
// the width of a table counts a cluster as one: a long cluster that the terminal
// itself breaks could make what follows pass for another fact.
func wrapped(text string, width int) []string {
	var pieces []string
	start, used := 0, 0
	for i, r := range text {
		w := 1
		if r >= 0x1100 {
			w = 2
		}
		if used+w > width {
			pieces = append(pieces, text[start:i])
			start, used = i, 0
		}
		used += w
	}
	return append(pieces, text[start:])
}

// factText makes one line of a text: every control character, line end and
// character that hides or turns others is escaped, and many spaces are counted.
func factText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		spaces := len(s[i:]) - len(strings.TrimLeft(s[i:], " "))
		switch {
		case spaces > 8:
			fmt.Fprintf(&b, `\x20{%d}`, spaces)
			size = spaces
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\\' && strings.ContainsAny(s[i+1:min(i+2, len(s))], `ntxuU\`):
			b.WriteString(`\\`)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case phrase.Hostile(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff && unseen(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case unseen(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// unseen reports whether a character shows as nothing, as space, or changes how
// others show.
func unseen(r rune) bool {
	return phrase.Hostile(r) || !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Me) ||
		r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800
}

// files lists what a definition brings, and then shows texts: files outside of the
// folder first, since those run where they lie.
func (p *page) files(definition []byte, outside, folder []trust.File, text func(trust.File) ([]byte, bool)) {
	weight := func(f trust.File) int { // how likely it is to run
		switch {
		case slices.Contains(outside, f):
			return 0
		case bytes.Contains(definition, []byte(path.Base(f.Name))):
			return 1
		case f.Exec:
			return 2
		}
		return 3
	}
	all := slices.Concat(outside, folder)
	slices.SortStableFunc(all, func(x, y trust.File) int { return cmp.Compare(weight(x), weight(y)) })
	var size int64
	for i, f := range all {
		size += f.Size
		if i < shownFiles {
			p.fact("file", fileFact(f))
		}
	}
	if len(all) > shownFiles {
		p.line(fmt.Sprintf("  and %d files more, %d in all with %d bytes", len(all)-shownFiles, len(all), size))
	}
	texts := 0
	for _, f := range all {
		if f.SHA256 == "" {
			continue
		}
		if texts++; texts > shownTexts {
			continue
		}
		p.showText(f, text)
	}
	if texts > shownTexts {
		p.line(fmt.Sprintf("  %s more are not shown", phrase.Count(texts-shownTexts, "text")))
	}
}

func fileFact(f trust.File) string {
	switch {
	case f.Missing:
		return f.Name + " (not there)"
	case f.Link != "" && f.SHA256 == "":
		return f.Name + " (a link to " + f.Link + ")"
	}
	note := ""
	if f.Exec {
		note = ", executable"
	}
	return fmt.Sprintf("%s (%d bytes%s)", f.Name, f.Size, note)
}

func (p *page) showText(f trust.File, text func(trust.File) ([]byte, bool)) {
	data, ok := text(f)
	if !ok {
		p.fact("text of", fmt.Sprintf("%s: not shown, %d bytes, sha256:%s", f.Name, f.Size, f.SHA256))
		return
	}
	p.fact("text of", fmt.Sprintf("%s, %s", f.Name, phrase.Count(bytes.Count(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))+1, "line")))
	p.text(string(data), "    | ")
}

// text prints the lines of a text behind a mark, so that none passes for a line
// of this command's.
func (p *page) text(text, mark string) {
	if text == "" {
		return
	}
	list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range list {
		if i == shownLines {
			p.line(fmt.Sprintf("%s… and %s more", mark, phrase.Count(len(list)-i, "line")))
			return
		}
		rest := ""
		if r := []rune(line); len(r) > shownLine {
			rest = p.style.yellow(fmt.Sprintf(" … and %d characters more in this line", len(r)-shownLine))
			line = string(r[:shownLine])
		}
		pieces := wrapped(textLine(line), max(p.width-len(mark)-2, 20))
		for j, piece := range pieces {
			if j == len(pieces)-1 {
				piece += rest
			}
			p.line(mark + piece)
		}
	}
}

// textLine is factText that leaves indentation readable.
func textLine(s string) string {
	rest := strings.TrimLeft(s, " \t")
	indent := strings.ReplaceAll(s[:len(s)-len(rest)], "\t", "    ")
	if len(indent) > 40 {
		return factText(s)
	}
	return indent + factText(rest)
}

// joined is two notes as one.
func joined(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}
