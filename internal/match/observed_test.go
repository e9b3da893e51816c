package match

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files if-*.json and matchers.json say what the real client was seen to
// do: rules × calls, and a 1 where the hook ran.

type observation struct {
	Rules    []string
	Commands []string
	Calls    [][2]json.RawMessage
	Runs     []string
}

// each calls f for every pair of a rule and a call.
func (o *observation) each(t *testing.T, opts RuleOptions, f func(rule, call string, got Decision, ran bool)) {
	t.Helper()
	for i, text := range o.Rules {
		rule, _ := ParseRule(text, opts)
		for j, command := range o.Commands {
			f(text, command, rule.Match(bash(t, command)), o.Runs[i][j] == '1')
		}
		for j, call := range o.Calls {
			var name string
			if err := json.Unmarshal(call[0], &name); err != nil {
				t.Fatal(err)
			}
			f(text, name+" "+string(call[1]), rule.Match(tool(name, string(call[1]))), o.Runs[i][j] == '1')
		}
	}
}

func TestMatchersSelectAsObserved(t *testing.T) {
	var o struct {
		Tools []string
		Cases []struct {
			Matcher string
			Matches []string
		}
	}
	load(t, "matchers.json", &o)
	for _, c := range o.Cases {
		got := []string{}
		for _, name := range o.Tools {
			ok, err := Compile(c.Matcher, MatcherOptions{}).Match(name)
			if err != nil {
				t.Errorf("matcher %q on %s: %v", c.Matcher, name, err)
			}
			if ok {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(c.Matches, got); diff != "" {
			t.Errorf("matcher %q (-observed +ours):\n%s", c.Matcher, diff)
		}
	}
}

func TestStrictRulesRunExactlyAsObserved(t *testing.T) {
	for _, file := range []string{"if-bash.json", "if-paths.json"} {
		var o observation
		load(t, file, &o)
		o.each(t, RuleOptions{StrictCompat: true}, func(rule, call string, got Decision, ran bool) {
			if got.Run != ran {
				t.Errorf("%q on %q: observed %v, ours %v (%s)", rule, call, ran, got.Run, got.By)
			}
		})
	}
}

// additions are the cases in which a rule may run although the client did not:
// its argument stands in another command that plainly runs it.
var additions = []struct {
	reason      string
	rule, call  string // substrings
	ruleExactly []string
}{
	{reason: "time", call: "time git"},
	{reason: "nice", call: "nice "},
	{reason: "nohup", call: "nohup "},
	{reason: "stdbuf", call: "stdbuf "},
	{reason: "noglob, of zsh", call: "noglob "},
	{reason: "xargs with flags", call: "xargs -n1"},
	{reason: "sudo", call: "sudo "},
	{reason: "git's options before the subcommand", call: "git -C x push"},
	{reason: "env", call: "env "},
	{reason: "a shell's -c", call: "sh -c"},
	{reason: "eval", call: "eval "},
	{reason: "trap", call: "trap "},
	{reason: "find -exec", call: "find . -exec"},
	{reason: "a path for the name", call: "/usr/bin/git"},
	{reason: "caliban's form", rule: "Bash:git *"},
	{reason: "a rule for WebFetch", rule: "WebFetch("},
	{reason: "a rule for Agent", ruleExactly: []string{"Agent(general-purpose)", "Task(general-purpose)"}},
	{reason: "the tools of an MCP server", ruleExactly: []string{"mcp__memory", "mcp__memory__*", "mcp__memory__.*", "mcp__*"}},
}

func TestRulesRunWhereObservedAndBeyondOnlyForListedReasons(t *testing.T) {
	used := map[string]int{}
	held, extras := 0, 0
	for _, file := range []string{"if-bash.json", "if-paths.json"} {
		var o observation
		load(t, file, &o)
		o.each(t, RuleOptions{}, func(rule, call string, got Decision, ran bool) {
			held++
			if ran && !got.Run {
				t.Errorf("%q on %q: the client ran, ours does not (%s)", rule, call, got.By)
			}
			if got.Run && got.By == "" {
				t.Errorf("%q on %q: runs without a reason", rule, call)
			}
			if ran || !got.Run {
				return
			}
			for _, a := range additions {
				exactly := a.ruleExactly == nil || slices.Contains(a.ruleExactly, rule)
				if strings.Contains(rule, a.rule) && strings.Contains(call, a.call) && exactly {
					used[a.reason]++
					extras++
					return
				}
			}
			t.Errorf("%q on %q: the client did not run, and ours has no listed reason (%s)", rule, call, got.By)
		})
	}
	for _, a := range additions {
		if used[a.reason] == 0 {
			t.Errorf("addition %q is never used", a.reason)
		}
	}
	t.Logf("%d pairs of rule and call, %d of them run beyond the client", held, extras)
	for _, reason := range slices.Sorted(maps.Keys(used)) {
		t.Logf("%4d %s", used[reason], reason)
	}
}
