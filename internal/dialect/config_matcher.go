package dialect

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// matcher reads the matcher of an entry: text, or what others have for it, a
// list of names or a table with one.
func (e *entry) matcher() {
	n := e.Get("matcher")
	if n == nil {
		return
	}
	if n.IsTable() {
		n = e.matcherTable(n)
	}
	switch v := n.Value.(type) {
	case string:
		e.pattern = v
		return
	case []*decl.Node:
		names := make([]string, len(v))
		for i, item := range v {
			if names[i] = item.Text(); names[i] == "" {
				e.WrongType("matcher", "a string", item)
				return
			}
		}
		e.pattern = strings.Join(names, "|")
		if !e.p.nameLists {
			e.Warn("matcher_list", "matcher", "want a string, got a list of names; they are joined by |", "write "+phrase.Quote(e.pattern))
		}
		return
	}
	e.WrongType("matcher", "a string", e.Get("matcher"))
}

// matcherTable finds the names of tools in a matcher that is a table with
// nothing else in it.
func (e *entry) matcherTable(n *decl.Node) *decl.Node {
	pairs := n.Pairs()
	if len(pairs) == 1 {
		switch decl.Snake(pairs[0].Key) {
		case "tool", "tools", "tool_name", "tool_names":
			e.Warn("matcher_table", "matcher", "want a string, got a table; its "+pairs[0].Key+" is taken", "write the names alone: other readers refuse the table")
			return pairs[0].Node
		}
	}
	return &decl.Node{Line: n.Line}
}

// applyMatcher gives the hook the matcher that means here what the entry's
// means in its product.
func (e *entry) applyMatcher(h *hook.Hook, ev declaredEvent) {
	pattern := e.pattern
	if e.isForeignExpression() {
		h.Why = "its matcher is an expression of another product, which is not read here"
		e.Warn("matcher_expression", "matcher", h.Why, `name the tools as matcher = "Write|Edit", and paths in if = "Write(*.ts)"`)
		h.Matcher = ev.matcher
		return
	}
	if e.p.matcher != nil {
		pattern = e.p.matcher(pattern)
	}
	tools := hook.Info(h.Event).MatcherField == "tool_name"
	h.Syntax = e.p.syntax
	if tools && e.p.regexp {
		h.Syntax = hook.SyntaxRegexp
	}
	if tools {
		pattern = e.translate(pattern, h.Syntax)
	}
	switch {
	case ev.matcher == "":
		h.Matcher = pattern
	case pattern == "" || pattern == "*" || pattern == ".*":
		h.Matcher, h.Syntax = ev.matcher, hook.SyntaxClaude
	default: // both must hold
		h.Matcher, h.Syntax = "^(?=(?:"+ev.matcher+")$).*(?:"+pattern+")", hook.SyntaxRegexp
	}
}

// foreignExpression is how the expressions of claudekit's first versions look:
// tools:Write AND file_paths:**/*.ts.
var foreignExpression = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(tools|file_paths|command|commands):|\s(AND|OR)\s+(tools|file_paths|command|commands):`)
})

func (e *entry) isForeignExpression() bool { return foreignExpression().MatchString(e.pattern) }

// The bounds of the matchers that are compiled to see which tools they mean.
const (
	maxTranslated  = 512 // bytes of one
	maxTranslators = 256 // different ones in a file
)

// translate adds the tools' names here to a matcher that takes them under the
// product's names. What it took before it still takes.
func (e *entry) translate(pattern string, syntax hook.MatcherSyntax) string {
	if len(e.p.tools) == 0 || pattern == "" || pattern == "*" || pattern == ".*" {
		return pattern
	}
	ours, known := e.r.translated[pattern]
	if !known {
		ours = e.translateOnce(pattern, syntax)
		e.r.translated[pattern] = ours
	}
	return ours
}

func (e *entry) translateOnce(pattern string, syntax hook.MatcherSyntax) string {
	if syntax == hook.SyntaxClaude && exactNames().MatchString(pattern) {
		return e.translateNames(pattern)
	}
	var re *regexp.Regexp
	if len(pattern) <= maxTranslated && len(e.r.translated) < maxTranslators && !strings.ContainsRune(pattern, '{') { // a bound can make a program huge
		re, _ = regexp.Compile(pattern)
	}
	if re == nil {
		for _, name := range slices.Sorted(maps.Keys(e.p.tools)) {
			if strings.Contains(pattern, name) && !slices.Contains(e.p.tools[name], name) {
				e.Warn("tool_names", "matcher", "the names of "+e.p.name+"'s tools in it could not be translated", "name the tools as they are called here: "+strings.Join(e.p.tools[name], "|"))
				break
			}
		}
		return pattern
	}
	var ours []string
	for _, name := range slices.Sorted(maps.Keys(e.p.tools)) {
		if !re.MatchString(name) {
			continue
		}
		for _, tool := range e.p.tools[name] {
			if !slices.Contains(ours, tool) && !re.MatchString(tool) {
				ours = append(ours, tool)
			}
		}
	}
	if len(ours) == 0 {
		return pattern
	}
	return pattern + "|^(?:" + strings.Join(ours, "|") + ")$"
}

// exactNames are matchers that Claude Code compares and does not search.
var exactNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_\- ,|]+$`) })

func (e *entry) translateNames(pattern string) string {
	var names []string
	for name := range strings.FieldsFuncSeq(pattern, func(c rune) bool { return c == '|' || c == ',' }) {
		name = strings.TrimSpace(name)
		for _, name := range append([]string{name}, e.p.tools[name]...) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, "|")
}
