package expr

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
)

// eval evaluates an expression on a call of Bash.
func eval(t *testing.T, text, input string) (any, error) {
	t.Helper()
	p, err := Compile(rule.Expression{Text: text, Event: hook.EventPreToolUse})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: []byte(input)}
	wire, err := hook.Encode(in, in.Common())
	if err != nil {
		t.Fatal(err)
	}
	return p.Eval(rule.NewFacts(&hook.Call{Hook: &hook.Hook{}, Input: in, Payload: wire, Dir: t.TempDir()}))
}

func TestExpressionsReadTheEvent(t *testing.T) {
	for text, want := range map[string]any{
		`tool_input.command.size() > 2`:                                  true,
		`tool_input.n == 3 && tool_input.n > 2.5`:                        true,
		`has(tool_input.gone)`:                                           false,
		`agent_type == "" && permission_mode == ""`:                      true,
		`payload.tool_name`:                                              "Bash",
		`tool_input.list.exists(x, x == "b")`:                            true,
		`tool_input.command.replace("rm", "ls")`:                         "ls x",
		`time.hour >= 0 && time.now > timestamp("2020-01-01T00:00:00Z")`: true,
		`git.branch`: "",
	} {
		if got, err := eval(t, text, `{"command": "rm x", "n": 3, "list": ["a", "b"]}`); err != nil || got != want {
			t.Errorf("%s = %v %v, want %v", text, got, err, want)
		}
	}
}

func TestExpressionsWithoutAValueFail(t *testing.T) {
	for _, test := range []struct{ text, input, words string }{
		{`tool_input.gone == 1`, `{}`, "no such key: gone"},
		{`tool_input.command == "a"`, `{"command": "a", "command": "b"}`, "stands twice"},
		{`tool_input.command.size() > 1`, `{"command": 3}`, "no such overload"},
	} {
		if got, err := eval(t, test.text, test.input); err == nil || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s = %v, %v", test.text, got, err)
		}
	}
}

// An evaluation ends, whatever the expression multiplies.
func TestCostOfAnEvaluationIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	list := `["` + strings.Repeat(`a","`, 2000) + `a"]`
	start := time.Now()
	got, err := eval(t, `tool_input.l.all(a, tool_input.l.all(b, tool_input.l.all(c, a == b && b == c)))`, `{"l": `+list+`}`)
	if err == nil || !strings.Contains(err.Error(), "cost limit") {
		t.Errorf("%v %v", got, err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	for _, test := range []struct {
		text         string
		line, column int
	}{
		{"tool_nmae == 1", 1, 1},
		{"true &&\n  nobody.x == 1", 2, 3},
		{"tool_name ==", 1, 13},
		{`env("HOME") == ""`, 1, 5},
		{"prompt == \"\"", 1, 1},
	} {
		_, err := Compile(rule.Expression{Text: test.text, Event: hook.EventPreToolUse, Bool: true})
		var syntax *rule.SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != test.line || syntax.Column != test.column {
			t.Errorf("%q: %v", test.text, err)
		}
	}
}

// No fact takes the name of a field of an event, but for the session's directory.
func TestFactsAndFieldsHaveNamesOfTheirOwn(t *testing.T) {
	for name := range facts {
		if f := fields()[name]; f != nil && name != "agent" {
			t.Errorf("%s is a fact and a field of %v", name, f.events)
		}
	}
}
