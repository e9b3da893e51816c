package match

import (
	"strings"
	"testing"
)

func TestRulesOfCaliban(t *testing.T) {
	tests := []struct {
		rule, tool, input string
		want              bool
	}{
		{"Bash:git *", "Bash", `{"command":"git push"}`, true},
		{"Bash:git *", "Bash", `{"command":"ls && git push"}`, true},
		{"Bash:git *", "Bash", `{"command":"ls"}`, false},
		{"Bash:git *", "Read", `{"file_path":"git x"}`, false},
		{"Bash:gi? push", "Bash", `{"command":"git push"}`, true},
		{"Bash:ls # *", "Bash", `{"command":"ls # x"}`, true},
		{"Bash:~push", "Bash", `{"command":"git push --force"}`, true},
		{"Bash:~push", "Bash", `{"command":"# push"}`, true},
		{"Bash:~push", "Bash", `{"command":"git pull"}`, false},
		{"Bash:*", "Bash", `{}`, true},
		{"Read:*.env", "Read", `{"file_path":"/a/x.env"}`, true},
		{"Read:/etc/**", "Read", `{"file_path":"/etc/passwd"}`, true},
		{"Read:~/.ssh/", "Read", `{"file_path":"/root/.ssh/id"}`, true},
		{"Read:~secret", "Read", `{"file_path":"/a/Secrets/b"}`, true},
		{"Read:~secret", "Read", `{"file_path":"/a/b"}`, false},
		{"WebFetch:https://*.example.com/*", "WebFetch", `{"url":"https://a.example.com/b"}`, true},
		{"WebFetch:~example", "WebFetch", `{"url":"https://a.example.com/b"}`, true},
		{"WebFetch:~example", "WebFetch", `{"url":"https://a.org/b"}`, false},
		{"command=git *", "Bash", `{"command":"git push"}`, true},
		{"command=git *", "Bash", `{"command":"ls"}`, false},
		{"command=git *", "Bash", `{"cmd":"git x"}`, false},
		{"command=git *", "Bash", `"git x"`, true},
		{"a.b=x*,c=1", "Any", `{"a":{"b":"xy"},"c":1}`, true},
		{"a.b=x*,c=1", "Any", `{"a":{"b":"xy"},"c":2}`, false},
		{"a.b=x*,c=1", "Any", `{"a":{"b":"zy"},"c":1}`, false},
		{"a=x,y", "Any", `{"a":"x,y"}`, true},
		{"a.1=y", "Any", `{"a":["x","y"]}`, true},
		{"a.2=y", "Any", `{"a":["x","y"]}`, false},
		{"a=y", "Any", `{"a":["x","y"]}`, true},
		{"a=x", "Any", `{"a":["x","y"]}`, true},
		{"a=true", "Any", `{"a":true}`, true},
		{"a=*", "Any", `{"a":{}}`, false},
		{"a.b=*", "Any", `{"a":"b"}`, false},
		{"mcp__x__y:q=a*", "mcp__x__y", `{"q":"ab"}`, true},
		{"mcp__x__y:q=a*", "mcp__x__z", `{"q":"ab"}`, false},
		{"mcp__x__y(q=a*)", "mcp__x__y", `{"q":"b"}`, false},
	}
	for _, tt := range tests {
		for _, opts := range []RuleOptions{{}, {Caliban: true}, {Caliban: true, StrictCompat: true}} {
			rule, problems := ParseRule(tt.rule, opts)
			if len(problems) > 0 {
				t.Errorf("%q: %v", tt.rule, problems)
			}
			if d := rule.Match(tool(tt.tool, tt.input)); d.Run != tt.want {
				t.Errorf("%+v: %q on %s %s = %+v, want %v", opts, tt.rule, tt.tool, tt.input, d, tt.want)
			}
		}
		rule, _ := ParseRule(tt.rule, RuleOptions{StrictCompat: true})
		if d := rule.Match(tool(tt.tool, tt.input)); d.Run {
			t.Errorf("strict: %q on %s %s runs: %s", tt.rule, tt.tool, tt.input, d.By)
		}
	}
}

func TestRulesOnOtherTools(t *testing.T) {
	tests := []struct {
		rule, tool, input string
		want              bool
	}{
		{"WebFetch(domain:example.com)", "WebFetch", `{"url":"https://EXAMPLE.com.:443/x"}`, true},
		{"WebFetch(domain:example.com)", "WebFetch", `{"url":"example.com/x"}`, true},
		{"WebFetch(domain:example.com)", "WebFetch", `{"url":"https://example.com.evil.org"}`, false},
		{"WebFetch(domain:example.com)", "WebFetch", `{"url":"https://example.com@evil.org"}`, false},
		{"WebFetch(domain:evil.org)", "WebFetch", `{"url":"https://example.com@evil.org"}`, true},
		{"WebFetch(domain:example.com)", "WebFetch", `{"url":"https://sub.example.com"}`, false},
		{"WebFetch(domain:*.example.com)", "WebFetch", `{"url":"https://sub.example.com"}`, true},
		{"WebFetch(domain:*.example.com)", "WebFetch", `{"url":"https://example.com"}`, false},
		{"WebFetch(domain:x.org)", "WebFetch", `{"url":"https://[::1"}`, true},
		{"WebFetch(domain:x.org)", "WebFetch", `{}`, true},
		{"WebFetch(https://example.com/*)", "WebFetch", `{"url":"https://example.com/a"}`, true},
		{"Agent(Explore)", "Agent", `{"subagent_type":"Explore"}`, true},
		{"Agent(Explore)", "Task", `{"subagent_type":"Explore"}`, true},
		{"Agent(Explore)", "Agent", `{"subagent_type":"Plan"}`, false},
		{"Task(Ex*)", "Agent", `{"subagent_type":"Explore"}`, true},
		{"PowerShell(Remove-Item *)", "PowerShell", `{"command":"Remove-Item x"}`, true},
		{"mcp__memory", "mcp__memory__search", `{}`, true},
		{"mcp__memory", "mcp__memory2__search", `{}`, false},
		{"mcp__memory__s*", "mcp__memory__search", `{}`, true},
		{"mcp__memory__search", "mcp__memory__search2", `{}`, false},
		{"Bash", "BashOutput", `{}`, false},
		{"Bash()", "Bash", `{}`, true},
		{"Bash(*)", "Bash", `{}`, true},
		{"Bash(git *)", "Bash", `{}`, true},
		{"Bash(git *)", "Bash", `{"command":["git"]}`, true},
		{"Bash(git *)", "Bash", `{"command":"ls","command":"git push"}`, true},
		{"Bash(git *)", "Bash", `{"command":"ls","COMMAND":"git push"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git push"`, true},
		{"", "Anything", ``, true},
	}
	for _, tt := range tests {
		rule, _ := ParseRule(tt.rule, RuleOptions{})
		d := rule.Match(tool(tt.tool, tt.input))
		if d.Run != tt.want {
			t.Errorf("%q on %s %s = %+v, want %v", tt.rule, tt.tool, tt.input, d, tt.want)
		}
		if d.By == "" {
			t.Errorf("%q on %s %s gives no reason", tt.rule, tt.tool, tt.input)
		}
		if d.Run && !rule.ForTool(tt.tool) {
			t.Errorf("%q runs for %s, but is not for it", tt.rule, tt.tool)
		}
	}
}

func TestRulesThatNeverMatchSaySo(t *testing.T) {
	tests := []struct{ rule, code, says string }{
		{"*", ProblemRuleInvalid, "neither"},
		{"Bash|Read", ProblemRuleInvalid, "neither"},
		{"Bash(git", ProblemRuleInvalid, "neither"},
		{"Bash(git *) ", ProblemRuleInvalid, "neither"},
		{`Bash(git\)`, ProblemRuleInvalid, "neither"},
		{`Bash\(git)`, ProblemRuleInvalid, "neither"},
		{"(git)", ProblemRuleInvalid, "neither"},
		{"bash(git *)", ProblemRuleInvalid, "write Bash"},
		{"bash", ProblemRuleNever, "write Bash"},
		{"TodoWrite(x)", ProblemRuleInvalid, "key=glob"},
	}
	for _, tt := range tests {
		rule, problems := ParseRule(tt.rule, RuleOptions{})
		if len(problems) != 1 || problems[0].Code != tt.code || !strings.Contains(problems[0].String(), tt.says) {
			t.Errorf("%q: problems %v, want one %s that says %q", tt.rule, problems, tt.code, tt.says)
		}
		if valid := tt.code == ProblemRuleNever; rule.Valid() != valid { // a host may have a tool of that name
			t.Errorf("%q: valid = %t, want %t", tt.rule, rule.Valid(), valid)
		}
		for _, name := range []string{"Bash", "Read", "TodoWrite"} {
			if d := rule.Match(tool(name, `{"command":"git push","file_path":"x"}`)); d.Run {
				t.Errorf("%q runs for %s: %s", tt.rule, name, d.By)
			}
		}
	}
}

func TestRulesWithSlipsAreUsedAndSaidSo(t *testing.T) {
	for text, code := range map[string]string{
		"Bash( git *)":               ProblemRuleSpace,
		"Bash(git *) || Bash(ls *)":  ProblemRuleSeveral,
		"Bash(git *), Bash(ls *)":    ProblemRuleSeveral,
		"Read(src/**), Write(src/*)": ProblemRuleSeveral,
	} {
		if _, problems := ParseRule(text, RuleOptions{}); len(problems) != 1 || problems[0].Code != code {
			t.Errorf("%q: problems %v, want one %s", text, problems, code)
		}
	}
	for _, text := range []string{"Bash(git *)", "Bash(echo (a) b)", "mcp__x", "mcp__*", "Task", "Bash(find . \\( -x \\))"} {
		if _, problems := ParseRule(text, RuleOptions{}); len(problems) != 0 {
			t.Errorf("%q: unexpected problems %v", text, problems)
		}
	}
}
