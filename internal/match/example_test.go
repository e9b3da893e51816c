package match_test

import (
	"fmt"

	"github.com/tenterhook/tenterhook/internal/match"
)

func Example() {
	matcher := match.Compile("Bash|Write", match.MatcherOptions{})
	rule, problems := match.ParseRule("Bash(git push *)", match.RuleOptions{})
	fmt.Println(matcher.Kind() == match.KindList, matcher.Names(), problems)

	for _, command := range []string{"npm test && git push", "sudo -u ci git push --force", "git status"} {
		call := &match.Call{ToolName: "Bash", ToolInput: fmt.Appendf(nil, `{"command":%q}`, command)}
		selected, err := matcher.Match(call.ToolName)
		decision := rule.Match(call)
		fmt.Println(selected, err, decision.Run, decision.By)
	}
	// Output:
	// true [Bash Write] []
	// true <nil> true `git push` in `npm test && git push`
	// true <nil> true `git push --force`, run by sudo, in `sudo -u ci git push --force`
	// true <nil> false no part of the command matches
}

func ExampleMatcher_Problems() {
	for _, pattern := range []string{"mcp__memory", "Bash(ls:*)"} {
		for _, p := range match.Compile(pattern, match.MatcherOptions{}).Problems() {
			fmt.Println(p.Message + "; " + p.Hint)
		}
	}
	// Output:
	// matcher "mcp__memory" is an exact name, and no tool is called mcp__memory, so it selects nothing; write mcp__memory__.* for the tools of that server
	// matcher "Bash(ls:*)" is a permission rule; as a matcher it is a regular expression, and selects no tool; write matcher "Bash", and put the rule into `if`
}
