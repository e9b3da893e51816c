package match

import "github.com/tenterhook/tenterhook/hook"

// problem is something about a pattern that its author should know: the message
// quotes the pattern, and the hint says what to write instead. It never keeps the
// pattern from being used. It is an error if the pattern can select nothing.
func problem(code, message, hint string) hook.Diagnostic {
	d := hook.Diagnostic{Severity: hook.SeverityWarning, Code: code, Message: message, Hint: hint}
	if code == ProblemMatcherInvalid || code == ProblemRuleInvalid {
		d.Severity = hook.SeverityError
	}
	return d
}

// The codes of all problems.
const (
	ProblemMatcherInvalid   = "matcher_invalid"    // not a JavaScript regular expression: selects nothing
	ProblemMatcherMCPServer = "matcher_mcp_server" // a bare MCP server name: selects nothing
	ProblemMatcherRule      = "matcher_rule"       // a permission rule, which belongs in `if`
	ProblemMatcherNothing   = "matcher_nothing"    // can select no tool
	ProblemMatcherCase      = "matcher_case"       // a tool's name in another case
	ProblemMatcherSyntax    = "matcher_syntax"     // another product's expression
	ProblemRuleNever        = "if_never"           // the rule matches no call of a client's own tools
	ProblemRuleInvalid      = "if_invalid"         // no rule at all: it can match no call
	ProblemRuleSeveral      = "if_several"         // several rules in one
	ProblemRuleSpace        = "if_space"           // white space that keeps the rule from matching
)
