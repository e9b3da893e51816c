package dialect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
)

// unsoundAllows are answers that a careless reader takes for an allow.
var unsoundAllows = map[string]string{
	"a key twice":                 pre(`"permissionDecision":"deny","permissionDecision":"allow"`),
	"a key twice, escaped":        pre(`"permissionDecision":"deny","\u0070ermissionDecision":"allow"`),
	"decision twice":              `{"decision":"block","decision":"approve"}`,
	"hookSpecificOutput twice":    `{"hookSpecificOutput":{},` + pre(`"permissionDecision":"allow"`)[1:],
	"a key twice, deep":           pre(`"permissionDecision":"allow","updatedInput":{"a":[{"b":1,"b":2}]}`),
	"upper case beside":           pre(`"permissionDecision":"allow","PERMISSIONDECISION":"deny"`),
	"upper case alone":            pre(`"PERMISSIONDECISION":"allow"`),
	"long s":                      pre(`"permiſſionDecision":"allow"`),
	"Kelvin sign":                 `{"decision":"approve","hooKSpecificOutput":null}`,
	"case at the top":             `{"Decision":"approve"}`,
	"snake case of another case":  pre(`"Permission_Decision":"allow"`),
	"two spellings":               pre(`"permissionDecision":"allow","permission_decision":"allow"`),
	"two spellings of the object": `{"hook_specific_output":{},` + pre(`"permissionDecision":"allow"`)[1:],
	"trailing brace":              pre(`"permissionDecision":"allow"`) + "}",
	"trailing object":             pre(`"permissionDecision":"allow"`) + "{}",
	"trailing line":               pre(`"permissionDecision":"allow"`) + "\n{}",
	"trailing text":               pre(`"permissionDecision":"allow"`) + " done",
	"trailing NUL":                pre(`"permissionDecision":"allow"`) + "\x00",
	"leading text":                "ok " + pre(`"permissionDecision":"allow"`),
	"BOM inside":                  "{\uFEFF" + pre(`"permissionDecision":"allow"`)[1:],
	"depth 300":                   pre(`"permissionDecision":"allow","updatedInput":{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`),
	"depth 100,000":               pre(`"permissionDecision":"allow","updatedInput":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`),
	"a huge number as decision":   pre(`"permissionDecision":` + strings.Repeat("9", 1<<20)),
	"a huge number as timeout":    `{"decision":"approve","async":true,"asyncTimeout":` + strings.Repeat("9", 1<<20) + `}`,
	"invalid UTF-8":               pre(`"permissionDecision":"allow","permissionDecisionReason":"` + "\xff" + `"`),
	"next-line character behind":  pre(`"permissionDecision":"allow"`) + "\u0085",
	"not a number":                pre(`"permissionDecision":"allow","x":NaN`),
	"a comma too many":            pre(`"permissionDecision":"allow",`),
	"single quotes":               `{'decision':'approve'}`,
	"a list around it":            "[" + pre(`"permissionDecision":"allow"`) + "]",
	"no event":                    `{"hookSpecificOutput":{"permissionDecision":"allow"}}`,
	"another event":               specific(hook.EventPostToolUse, `"permissionDecision":"allow"`),
	"a list of decisions":         pre(`"permissionDecision":["allow"]`),
	"allowed in other words":      pre(`"permissionDecision":"approve"`),
	"allowed at the top":          `{"permissionDecision":"allow"}`,
	"allowed with a space":        pre(`"permissionDecision":"allow "`),
}

func TestM4UnsoundAnswersNeverResolveToAllow(t *testing.T) {
	if testing.Short() {
		t.Skip("long: tries thousands of answers")
	}
	for name, text := range unsoundAllows {
		t.Run(name, func(t *testing.T) {
			for _, p := range hook.Protocols() {
				if p == hook.ProtocolCaliban && name == "no event" || p == hook.ProtocolCopilot && name == "allowed at the top" {
					continue // they write it so
				}
				for code := range 3 {
					c := newCall(t, hook.EventPreToolUse, withProtocol(p))
					start := time.Now()
					out, err := Read(c, Reply{Stdout: []byte(text), ExitCode: code})
					if took := time.Since(start); took > time.Minute {
						t.Errorf("%s, exit %d: took %v", p, code, took)
					}
					if got := resultOf(c, out, err); got.Verdict() == hook.Allow || out != nil && out.Verdict == hook.Allow {
						t.Errorf("%s, exit %d: allowed: %+v, %v", p, code, out, err)
					}
					if code == 0 && err == nil && out.Verdict == hook.NoOpinion {
						t.Errorf("%s: passed in silence", p)
					}
				}
			}
		})
	}
}

func TestM4AnUnsoundRefusalStillRefuses(t *testing.T) {
	// The client denies on each of these: it takes the last of two equal keys,
	// and does not know the other one of two spellings.
	for _, text := range []string{
		pre(`"permissionDecision":"allow","permissionDecision":"deny"`),
		pre(`"permissionDecision":"deny","PermissionDecision":"allow"`),
		pre(`"permissionDecision":"deny","permission_decision":"allow"`),
		pre(`"permission_decision":"allow","permissionDecision":"deny"`),
		pre(`"permissionDecision":"deny","updatedInput":{"a":1,"a":2}`),
		pre(`"permissionDecision":"deny","x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300)),
		pre(`"permissionDecision":"deny","permissionDecisionReason":"` + "\xff" + `"`),
		pre(`"permissionDecision":"deny","retry":"often"`),
		pre(`"permissionDecision":"deny","permission_decision_reason":5`),
		`{"asyncTimeout":"5",` + pre(`"permissionDecision":"deny"`)[1:],
	} {
		c := newCall(t, hook.EventPreToolUse)
		out, err := Read(c, Reply{Stdout: []byte(text)})
		if err != nil || out.Verdict != hook.Deny || out.UpdatedInput != nil {
			t.Errorf("%.120s: %+v, %v", text, out, err)
		}
		if len(c.Report.Warnings) == 0 {
			t.Errorf("%.120s: nothing said", text)
		}
	}
}

func TestM4HostileAnswersCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	var keys, misspelt, variants, nested strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&keys, `"decisionn%d":"deny",`, i)
		fmt.Fprintf(&misspelt, `"systemMessag%05d":1,`, i)
		variants.WriteString(`"DECISION":"block",`)
	}
	nested.WriteString(strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000))
	for name, text := range map[string]string{
		"unknown keys":      "{" + keys.String() + `"x":1}`,
		"misspelt keys":     "{" + misspelt.String() + `"x":1}`,
		"case variants":     "{" + variants.String() + `"x":1}`,
		"nesting":           nested.String(),
		"one long string":   `{"systemMessage":"` + strings.Repeat("é", 1<<18) + `"}`,
		"one long path":     `{"x":"` + strings.Repeat(`\\`, 1<<18) + `"}`,
		"braces":            strings.Repeat("{", 1<<18) + strings.Repeat("}", 1<<18),
		"lines that open":   strings.Repeat("{\n", 1<<17),
		"handoffs":          strings.Repeat(`{"async":true}`+"\n", 1<<14),
		"almost handoffs":   strings.Repeat(`{"async":`, 1<<14),
		"quotes in a brace": `{` + strings.Repeat(`"`, 1<<18) + `}`,
	} {
		start := time.Now()
		c := newCall(t, hook.EventPreToolUse)
		for range 2 {
			_, _ = Read(c, Reply{Stdout: []byte(text)})
			_, _ = Reader{}.ReadLater(c, []byte(text))
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %v", name, took)
		}
		if n := len(c.Report.Warnings); n > 4*maxWarnings {
			t.Errorf("%s: %d warnings", name, n)
		}
	}
}

// TestNoAllowComesOutOfAnAnswerWithAmbiguousKeys puts a variant of a known key
// anywhere into an answer that allows.
func TestNoAllowComesOutOfAnAnswerWithAmbiguousKeys(t *testing.T) {
	members := [...][]string{
		{`"decision":"approve"`, `"reason":"R"`, `"continue":true`, `"systemMessage":"M"`},
		{`"hookEventName":"PreToolUse"`, `"permissionDecision":"allow"`, `"additionalContext":"C"`, `"updatedInput":{"a":1}`},
	}
	rapid.Check(t, func(t *rapid.T) {
		places := [2][]string{append([]string(nil), members[0]...), append([]string(nil), members[1]...)}
		at := rapid.IntRange(0, 1).Draw(t, "place")
		key := rapid.SampledFrom(placeKeys()[at]).Draw(t, "key")
		variant := rapid.SampledFrom([]func(string) string{
			func(s string) string { return s },
			strings.ToUpper,
			strings.ToTitle,
			func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
			func(s string) string { return strings.Replace(s, "s", "ſ", 1) },
			func(s string) string { return strings.Replace(s, "k", "\u212A", 1) },
			func(s string) string { return fmt.Sprintf(`\u%04x`, s[0]) + s[1:] },
		}).Draw(t, "variant")(key)
		value := rapid.SampledFrom([]string{`"deny"`, `"allow"`, `"block"`, `true`, `false`, `null`, `{}`, `7`}).Draw(t, "value")
		added := `"` + variant + `":` + value
		i := rapid.IntRange(0, len(places[at])).Draw(t, "where")
		places[at] = append(places[at][:i], append([]string{added}, places[at][i:]...)...)
		text := "{" + strings.Join(places[0], ",") + `,"hookSpecificOutput":{` + strings.Join(places[1], ",") + "}}"

		var plain string // the key that a reader without regard to case, spelling and escapes sees
		_ = json.Unmarshal([]byte(`"`+variant+`"`), &plain)
		present := false
		for _, m := range append(members[at], `"hookSpecificOutput":`) {
			name := strings.Split(m, `"`)[1]
			inPlace := at == 0 || name != "hookSpecificOutput"
			present = present || inPlace && (strings.EqualFold(name, plain) || strings.EqualFold(snakeCase(name), plain))
		}
		_, exact := fieldIndex()[at][plain]
		if !present && exact {
			return // a field more, and no ambiguity
		}
		for _, p := range []hook.Protocol{hook.ProtocolClaude, hook.ProtocolClaudeLegacy, hook.ProtocolStarpod, hook.ProtocolCaliban} {
			in, _ := hook.DecodeInput([]byte(`{"hook_event_name":"PreToolUse"}`))
			c := &hook.Call{Hook: &hook.Hook{ID: "dir/test", Event: hook.EventPreToolUse, Protocol: p}, Input: in}
			if out, _ := Read(c, Reply{Stdout: []byte(text)}); out != nil && out.Verdict == hook.Allow {
				t.Fatalf("%s: allowed by %s", p, text)
			}
		}
	})
}

func TestM7NoiseBeforeTheObjectIsAFailureThatShowsIt(t *testing.T) {
	noise := "Welcome to \x1b[1mhost\x1b[0m\n"
	for _, event := range []hook.Event{hook.EventPreToolUse, hook.EventUserPromptSubmit, hook.EventSessionStart, hook.EventPostToolUse} {
		for _, answer := range []string{
			specific(event, `"permissionDecision":"allow"`), specific(event, `"additionalContext":"C"`),
			`{"decision":"approve"}`, `{"decision": "block", "reason": "R"}`, `{"continue":false}`,
			"{\n  \"decision\": \"block\"\n}", `{"hookSpecificOutput":`,
		} {
			out, err := Read(newCall(t, event), Reply{Stdout: []byte(noise + answer)})
			got := failureOf(t, err)
			if out != nil || got.Failure != hook.FailureOutput || !strings.Contains(got.Reason, `"Welcome to \x1b[1mhost\x1b[0m"`) {
				t.Errorf("%s %q: %+v, %v", event, answer, out, err)
			}
			if want := "print only the JSON object; send everything else to stderr"; got.Hint != want {
				t.Errorf("%s %q: hint %q", event, answer, got.Hint)
			}
		}
	}
}

func TestM7TextThatIsNoAnswerStaysText(t *testing.T) {
	for _, tc := range []struct {
		event   hook.Event
		text    string
		failure hook.Failure
	}{
		{hook.EventPreToolUse, "[guard] looks fine", ""},
		{hook.EventPreToolUse, "[1/3] compiling\n[2/3] linking", ""},
		{hook.EventPreToolUse, "done, denied nothing", ""},
		{hook.EventPreToolUse, "{oops", hook.FailureOutput},
		{hook.EventPreToolUse, "saved:\n  {\"a\": 1} ok", hook.FailureOutput},
		{hook.EventPreToolUse, "[\n  {}\n]", hook.FailureOutput},
		{hook.EventPreToolUse, "deny", hook.FailureOutput},
		{hook.EventPreToolUse, " BLOCK.\n", hook.FailureOutput},
		{hook.EventPreToolUse, "allow", ""},
		{hook.EventPreToolUse, "decision: block\npermissionDecision: deny", hook.FailureOutput},
		{hook.EventSessionStart, "package.json:\n{\"name\": \"x\"}\n", ""},
		{hook.EventSessionStart, "[x] a task\n[ ] another", ""},
		{hook.EventUserPromptSubmit, "no", ""},
		{hook.EventUserPromptSubmit, `noise{"decision":"block"}`, hook.FailureOutput},
		{hook.EventUserPromptSubmit, "hooks answer with hookSpecificOutput", ""},
		{hook.EventPreToolUse, "hooks answer with hookSpecificOutput", hook.FailureOutput},
		{hook.EventStatusLine, `{"decision":"block"}`, ""},
		{hook.EventStatusLine, "{main}", ""},
	} {
		out, err := Read(newCall(t, tc.event), Reply{Stdout: []byte(tc.text)})
		if got := failureOf(t, err).Failure; got != tc.failure {
			t.Errorf("%s %q: %v, want %q", tc.event, tc.text, err, tc.failure)
			continue
		}
		means := hook.Info(tc.event).Plain
		if means != hook.PlainIgnored && tc.failure == "" && out.Context+out.Text != strings.TrimSpace(tc.text) {
			t.Errorf("%s %q: %+v", tc.event, tc.text, out)
		}
	}
}

func TestP16BinaryOutputIsAFailure(t *testing.T) {
	random := make([]byte, 4096)
	for i := range random {
		random[i] = byte(i * 7919 >> 3)
	}
	for name, stdout := range map[string]string{
		"NUL bytes": "a\x00b", "a NUL byte first": "\x00a", "invalid UTF-8": "caf\xe9", "UTF-16": "\xff\xfe{\x00}\x00", "a lone surrogate": "\xed\xa0\x80",
		"random bytes": string(random),
	} {
		for _, event := range everyEvent() {
			c := newCall(t, event)
			out, err := Read(c, Reply{Stdout: []byte(stdout)})
			if hook.Info(event).Plain == hook.PlainPath {
				if err != nil || out.Verdict != hook.Deny {
					t.Errorf("%s on %s: %+v, %v", name, event, out, err)
				}
				continue
			}
			if out != nil || failureOf(t, err).Failure != hook.FailureOutput {
				t.Errorf("%s on %s: %+v, %v", name, event, out, err)
			}
		}
		out, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: []byte(stdout), Stderr: []byte("E\xff"), ExitCode: 2})
		if err != nil || out.Verdict != hook.Deny || out.Reason != "E\uFFFD" {
			t.Errorf("%s at exit 2: %+v, %v", name, out, err)
		}
	}
}

func TestRefusalsThatDoNotCountAreFailures(t *testing.T) {
	lost := []readCase{}
	for name, stdout := range map[string]string{
		"misspelt decision":             `{"desicion":"block"}`,
		"misspelt permissionDecision":   pre(`"permissionDecison":"deny"`),
		"misspelt continue":             `{"contine":false}`,
		"misspelt hookSpecificOutput":   `{"hookSpecificOuput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`,
		"kebab case":                    pre(`"permission-decision":"deny"`),
		"permission of cursor":          `{"permission":"deny"}`,
		"action of moltis":              `{"action":"block","reason":"R"}`,
		"ok of a model":                 `{"ok":false,"reason":"R"}`,
		"allow false":                   `{"allow":false}`,
		"blocked true":                  `{"blocked":true}`,
		"behavior at the top":           `{"behavior":"deny"}`,
		"behavior beside its decision":  pre(`"behavior":"deny"`),
		"decision in the wrong object":  pre(`"decision":{"behavior":"deny"}`),
		"action in the wrong event":     pre(`"action":"decline"`),
		"permissionDecision at the top": `{"permissionDecision":"deny"}`,
		"its snake case at the top":     `{"permission_decision":"deny"}`,
		"updatedInput at the top":       `{"updatedInput":{"command":"true"}}`,
		"nested hookSpecificOutput":     pre(`"hookSpecificOutput":{"permissionDecision":"deny"}`),
	} {
		lost = append(lost, readCase{name: name, stdout: stdout, failure: hook.FailureOutput})
	}
	runReadCases(t, lost)
}

func TestHarmlessKeysAreToleratedAndMisspeltOnesNamed(t *testing.T) {
	runReadCases(t, []readCase{
		{name: "unknown", stdout: `{"x":1,"version":"2","log":{"a":[]},"_comment":"deny"}`},
		{name: "words of other products that consent", stdout: `{"ok":true,"permission":"allow","action":"logged","blocked":false}`},
		{name: "near", stdout: `{"sytemMessage":"M"}`, codes: []string{"unknown_key"}},
		{name: "near, inside", stdout: pre(`"aditionalContext":"C"`), codes: []string{"unknown_key"}},
		{name: "in the wrong object", stdout: `{"additionalContext":"C"}`, codes: []string{"misplaced_key"}},
		{name: "false where it has no effect", stdout: pre(`"retry":false,"suppressOriginalPrompt":false`)},
		{name: "null", stdout: `{"continue":null,"decision":null,"systemMessage":null,"async":null,"hookSpecificOutput":null}`},
		{name: "a word with nothing behind it", stdout: `{"message":"command","error":"tool call **","status":"hook"}`},
		{name: "flags in a list", stdout: `{"results":[true,1,null,false]}`},
		{name: "null in the wrong object", stdout: `{"permissionDecision":null,"updatedInput":null,"additionalContext":null}`},
		{name: "null inside", stdout: pre(`"permissionDecision":null,"updatedInput":null,"additionalContext":null`)},
		{name: "suppressOutput everywhere", event: hook.EventSetup, stdout: `{"suppressOutput":true}`},
	})
}

func TestAMisspeltKeyIsShownTheRightOne(t *testing.T) {
	c := newCall(t, hook.EventPreToolUse)
	if _, err := Read(c, Reply{Stdout: []byte(`{"sytemMessage":"M"}`)}); err != nil {
		t.Fatal(err)
	}
	want := []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "unknown_key", Hook: "dir/test",
		Message: `unknown key "sytemMessage" in the answer`, Hint: "did you mean systemMessage?"}}
	if diff := cmp.Diff(want, c.Report.Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
