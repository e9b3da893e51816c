package match

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// RuleOptions say how an `if` rule is read. The zero value reads a rule of
// Claude Code, and is stricter than the client where a command plainly
// contains the guarded command.
type RuleOptions struct {
	// StrictCompat matches where the client was seen to match, and nowhere
	// else: no wrappers (sudo, bash -c), no WebFetch(domain:…), Agent(type) or
	// mcp__server, no Edit(…) for Write, no forms of caliban.
	StrictCompat bool
	// Caliban reads caliban's forms whatever StrictCompat says, and ? as a
	// wildcard in Tool(glob) too.
	Caliban bool
}

// A Rule is one `if` rule. It is made by [ParseRule], immutable, and safe for
// concurrent use.
type Rule struct {
	text   string
	strict bool
	kind   ruleKind
	tool   string   // for kinds ruleTool and ruleArgument
	tools  glob     // more tools of an MCP server, or nil
	arg    argument // for kind ruleArgument
}

type ruleKind uint8

const (
	ruleEvery    ruleKind = iota // an empty rule
	ruleNever                    // no rule at all
	ruleTool                     // a tool, whatever its input
	ruleArgument                 // a tool and an argument
	ruleInput                    // any tool, by its input: caliban's k=glob
)

// argument is what a rule asks of the tool's input.
type argument interface {
	match(c *Call, strict bool) Decision
}

// Match holds the rule against a call.
func (r *Rule) Match(c *Call) Decision {
	switch r.kind {
	case ruleEvery:
		return sure("the rule is empty")
	case ruleNever:
		return Decision{By: "the rule matches no call"}
	}
	if !r.ForTool(c.ToolName) {
		return Decision{By: "the rule is for another tool"}
	}
	if r.kind == ruleTool {
		return sure("the tool is " + plain(c.ToolName))
	}
	return r.arg.match(c, r.strict)
}

// ForTool reports whether the rule can match a call of that tool.
func (r *Rule) ForTool(name string) bool {
	switch r.kind {
	case ruleEvery, ruleInput:
		return true
	case ruleNever:
		return false
	}
	if r.tool == name || name != "" && aliasOf(r.tool) == name {
		return true
	}
	if r.strict {
		return false
	}
	if r.tool == "Edit" {
		return name == "Write" || name == "MultiEdit" || name == "NotebookEdit"
	}
	return r.tools != nil && r.tools.match(name)
}

// Valid reports whether the rule can match a call.
func (r *Rule) Valid() bool { return r.kind != ruleNever }

// String returns the rule as it was written.
func (r *Rule) String() string { return r.text }

// ParseRule reads a rule: Tool, Tool(argument), or one of caliban's Tool:glob,
// Bash:~glob and key.key=glob,…. It never fails. Any other text
// matches no call, as in the client, and a problem says so; the empty rule
// matches every call.
func ParseRule(s string, opts RuleOptions) (*Rule, []hook.Diagnostic) {
	p := ruleParser{rule: &Rule{text: s, strict: opts.StrictCompat}, opts: opts}
	p.parse(s)
	return p.rule, p.problems
}

type ruleParser struct {
	rule     *Rule
	opts     RuleOptions
	problems []hook.Diagnostic
}

func (p *ruleParser) parse(s string) {
	caliban := p.opts.Caliban || !p.opts.StrictCompat
	if s == "" {
		return // the zero kind is ruleEvery
	}
	if tool, content, ok := splitCall(s); ok {
		p.setTool(tool)
		p.setArgument(content, form{raw: p.opts.Caliban, strict: p.opts.StrictCompat})
		p.diagnoseContent(content)
		return
	}
	if tool, content, ok := strings.Cut(s, ":"); ok && caliban && isName(tool) {
		p.setTool(tool)
		content, anywhere := strings.CutPrefix(content, "~")
		p.setArgument(content, form{raw: true, anywhere: anywhere})
		return
	}
	if keys, ok := parseKeys(s); ok && caliban {
		p.rule.kind, p.rule.arg = ruleInput, keys
		return
	}
	p.setTool(s)
	if !isName(strings.TrimSuffix(strings.ReplaceAll(s, "*", ""), ".")) || strings.HasPrefix(s, "*") {
		p.never("it is neither Tool nor Tool(argument)")
	}
}

// form is how an argument is written.
type form struct {
	raw      bool // caliban's: ? is a wildcard, and the text counts as it stands
	anywhere bool // caliban's ~: not anchored
	strict   bool // as Claude Code was seen to match
}

// setTool makes the rule one for a tool, and for the tools of an MCP server.
func (p *ruleParser) setTool(tool string) {
	p.rule.kind, p.rule.tool = ruleTool, tool
	if other := builtinInOtherCase(tool); other != "" {
		p.problems = append(p.problems, problem(ProblemRuleNever,
			fmt.Sprintf("if %q: names of tools are case-sensitive, so it matches no call", p.rule.text), "write "+other))
	}
	if !strings.HasPrefix(tool, "mcp__") {
		return
	}
	switch {
	case strings.Contains(tool, "*"):
		p.rule.tools = compileGlob(strings.ReplaceAll(tool, ".*", "*"), false)
	case !hasMCPTool(tool):
		p.rule.tools = compileGlob(strings.TrimRight(tool, "_")+"__*", false)
	}
}

// setArgument reads what stands in the parentheses, or behind caliban's colon.
func (p *ruleParser) setArgument(content string, f form) {
	r := p.rule
	if content == "" || content == "*" {
		return
	}
	r.kind = ruleArgument
	switch r.tool {
	case "Bash":
		r.arg = newShellRule(content, f)
		return
	case "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS":
		r.arg = newPathRule(content, f)
		return
	}
	if r.strict && !p.opts.Caliban {
		r.kind = ruleNever
		return
	}
	switch r.tool {
	case "WebFetch":
		r.arg = newWebRule(content, f)
	case "Agent", "Task":
		r.arg = newTextRule("subagent_type", content, f)
	case powerShell:
		r.arg = newPowerShellRule(content, f)
	default:
		keys, ok := parseKeys(content)
		if !ok {
			p.never("no argument of " + plain(r.tool) + " is known")
			return
		}
		r.arg = keys
	}
}

// never makes a rule that matches no call, as it does in the client.
func (p *ruleParser) never(why string) {
	p.rule.kind = ruleNever
	if len(p.problems) > 0 { // why was said already
		p.problems[len(p.problems)-1].Code = ProblemRuleInvalid
		return
	}
	hint := "write one rule like Bash(git *) or Read(src/**), or leave it out"
	if p.rule.tool != "" && isName(p.rule.tool) {
		hint = fmt.Sprintf("write %s alone, or key=glob for a field of its input", p.rule.tool)
	}
	p.problems = append(p.problems, problem(ProblemRuleInvalid,
		fmt.Sprintf("if %q matches no call: %s", p.rule.text, why), hint))
}

// diagnoseContent names slips that leave a rule with less than was meant.
func (p *ruleParser) diagnoseContent(content string) {
	_, rest, _ := strings.Cut(content, ")")
	switch {
	case strings.TrimSpace(content) != content:
		p.problems = append(p.problems, problem(ProblemRuleSpace,
			fmt.Sprintf("if %q: the space beside the parenthesis is part of the pattern", p.rule.text), "remove it"))
	case strings.Contains(rest, "("):
		p.problems = append(p.problems, problem(ProblemRuleSeveral,
			fmt.Sprintf("if %q is read as one rule, up to the last parenthesis", p.rule.text), "declare a hook for each rule"))
	}
}

// splitCall splits Tool(content). The content ends at the last parenthesis,
// which must be the last character; \( \) and \\ stand for themselves.
func splitCall(s string) (tool, content string, ok bool) {
	tool, rest, ok := strings.Cut(s, "(")
	if !ok || tool == "" || !strings.HasSuffix(rest, ")") || quoted(s, len(s)-1) || quoted(s, len(tool)) {
		return "", "", false
	}
	return tool, unquoteRule.Replace(rest[:len(rest)-1]), true
}

var unquoteRule = strings.NewReplacer(`\(`, "(", `\)`, ")", `\\`, `\`)

// quoted reports whether an odd number of backslashes stands before s[i].
func quoted(s string, i int) bool {
	n := len(s[:i]) - len(strings.TrimRight(s[:i], `\`))
	return n%2 == 1
}

// isName reports whether s is a plain name: letters, digits, _ and -.
func isName(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && s[i] != '-' {
			return false
		}
	}
	return s != ""
}

// excerpt quotes a piece of a call for a person: one line, short, printable.
func excerpt(s string) string { return "`" + plain(s) + "`" }

func plain(s string) string {
	const most = 80
	if len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
