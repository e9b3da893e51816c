package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// diagnose says what the author of a matcher should know.
func (m *Matcher) diagnose(opts MatcherOptions) []hook.Diagnostic {
	switch m.kind {
	case KindExact, KindList:
		return m.diagnoseNames(opts)
	case KindRegexp:
		return m.diagnoseExpression()
	}
	return nil
}

func (m *Matcher) diagnoseNames(opts MatcherOptions) []hook.Diagnostic {
	if len(m.names) == 0 {
		return []hook.Diagnostic{problem(ProblemMatcherNothing, fmt.Sprintf("matcher %q names nothing, so it selects nothing", m.pattern),
			"leave it out to select everything")}
	}
	if opts.Narrow {
		return nil // not the names of tools
	}
	anyText := ".*"
	if opts.Syntax == SyntaxGlob {
		anyText = "*"
	}
	var ps []hook.Diagnostic
	for _, n := range m.names {
		switch other := builtinInOtherCase(n); {
		case strings.HasPrefix(n, "mcp__") && !hasMCPTool(n):
			ps = append(ps, problem(ProblemMatcherMCPServer,
				fmt.Sprintf("matcher %q is an exact name, and no tool is called %s, so it selects nothing", m.pattern, n),
				fmt.Sprintf("write %s__%s for the tools of that server", strings.TrimRight(n, "_"), anyText)))
		case strings.Contains(n, " "):
			ps = append(ps, problem(ProblemMatcherNothing,
				fmt.Sprintf("matcher %q has a space inside a name, and no tool's name has one", m.pattern),
				"separate names by |, as in Read|Write"))
		case other != "":
			ps = append(ps, problem(ProblemMatcherCase,
				fmt.Sprintf("matcher %q: names are case-sensitive, and the tool is called %s", m.pattern, other),
				fmt.Sprintf("write %s", other)))
		}
	}
	return ps
}

func (m *Matcher) diagnoseExpression() []hook.Diagnostic {
	p := m.pattern
	tool, arg, isCall := strings.Cut(strings.TrimSuffix(p, ")"), "(")
	switch {
	case isCall && strings.HasSuffix(p, ")") &&
		(isBuiltinTool(tool) || strings.HasPrefix(tool, "mcp__") && strings.HasSuffix(arg, ":*")) && !m.selectsBuiltin():
		return []hook.Diagnostic{problem(ProblemMatcherRule,
			fmt.Sprintf("matcher %q is a permission rule; as a matcher it is a regular expression, and selects no tool", p),
			fmt.Sprintf("write matcher %q, and put the rule into `if`", tool))}
	case isToolExpression(p):
		return []hook.Diagnostic{problem(ProblemMatcherSyntax,
			fmt.Sprintf("matcher %q looks like another product's expression; here it is a regular expression", p),
			"write the tool's name, a list like Read|Write, or a regular expression")}
	case m.form.err != nil:
		return []hook.Diagnostic{problem(ProblemMatcherInvalid,
			fmt.Sprintf("matcher %q is no regular expression (%v), so it selects nothing", p, m.form.err),
			m.repair())}
	}
	return nil
}

// selectsBuiltin tells the expression Bash(Output) from the rule Bash(ls).
func (m *Matcher) selectsBuiltin() bool {
	return slices.ContainsFunc(builtinTools, func(name string) bool {
		ok, _ := m.matchExpression(name)
		return ok
	})
}

// repair guesses what an invalid expression was meant to be.
func (m *Matcher) repair() string {
	switch {
	case errors.Is(m.form.err, errInlineFlags):
		return "write [Bb]ash for a letter in either case"
	case errors.Is(m.form.err, errNothingToRepeat) && strings.Contains(m.pattern, "*"):
		return "write .* for any text"
	}
	return `quote a character that is meant as such with \`
}

// hasMCPTool reports whether mcp__server is followed by __tool.
func hasMCPTool(name string) bool {
	server, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	return ok && server != "" && tool != ""
}

// builtinInOtherCase returns the tool that the name is but for its case.
func builtinInOtherCase(name string) string {
	for _, t := range builtinTools {
		if t != name && strings.EqualFold(t, name) {
			return t
		}
	}
	return ""
}

// isToolExpression recognises the matchers of other products.
func isToolExpression(p string) bool {
	return strings.Contains(p, "==") || strings.Contains(p, "&&") ||
		strings.HasPrefix(p, "!") || strings.HasPrefix(p, "Tool:") ||
		len(p) > 2 && p[0] == '/' && strings.LastIndexByte(p, '/') > 0
}
