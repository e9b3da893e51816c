package match

// Problem is something about a pattern that its author should know. It never
// keeps the pattern from being used. The zero value is no problem.
type Problem struct {
	// Code is stable, for machines: one of the Problem constants.
	Code string
	// Message says what is wrong, quoting the pattern.
	Message string
	// Hint says what to write instead. It may be empty.
	Hint string
}

// The codes of all problems.
const (
	ProblemMatcherInvalid   = "matcher-invalid"    // not a JavaScript regular expression: selects nothing
	ProblemMatcherMCPServer = "matcher-mcp-server" // a bare MCP server name: selects nothing
	ProblemMatcherRule      = "matcher-rule"       // a permission rule, which belongs in `if`
	ProblemMatcherNothing   = "matcher-nothing"    // can select no tool
	ProblemMatcherCase      = "matcher-case"       // a tool's name in another case
	ProblemMatcherSyntax    = "matcher-syntax"     // another product's expression
	ProblemRuleNever        = "if-never"           // the rule matches no call of a client's own tools
	ProblemRuleInvalid      = "if-invalid"         // no rule at all: it can match no call
	ProblemRuleSeveral      = "if-several"         // several rules in one
	ProblemRuleSpace        = "if-space"           // white space that keeps the rule from matching
)

func (p Problem) String() string {
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + "; " + p.Hint
}
