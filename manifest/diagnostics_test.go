package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

// TestM2WhatIsWrongIsNamed holds each mistake against its diagnostics: severity,
// code, line, and words that message and hint must have. In the text the first
// line is line 2 of the file, and line 1 of its own is event = "PreToolUse".
func TestM2WhatIsWrongIsNamed(t *testing.T) {
	const head = "event = \"PreToolUse\"\ncommand = \"x\"\n"
	tests := []struct {
		name, text string
		state      hook.State
		want       string // "" = no diagnostic
		words      string
	}{
		{"unknown key", head + `matchr = "Bash"`, hook.StateReady, "warning unknown_key:4", "matchr did you mean matcher?"},
		{"unknown key, far from any", head + `zzzzzzzz = 1`, hook.StateReady, "warning unknown_key:4", "zzzzzzzz"},
		{"unknown key in a table", head + "[requires]\nbinz = []", hook.StateReady, "warning unknown_key:5", "requires.binz did you mean bins?"},
		{"unknown key in the breaker", head + "[breaker]\nfailure = 1", hook.StateReady, "warning unknown_key:5", "breaker.failure did you mean failures?"},
		{"key in another case", head + `Matcher = "Bash"`, hook.StateReady, "warning unknown_key:4", "Matcher did you mean matcher?"},
		{"comment keys", head + "_comment = 1\n\"$schema\" = 1", hook.StateReady, "", ""},
		{"decoration", head + "emoji = 1\nversion = \"1\"\nhomepage = \"x\"", hook.StateReady, "", ""},
		{"both spellings", head + "on_failure = \"block\"\nonFailure = \"continue\"", hook.StateInvalid, "error duplicate_key:5", "onFailure on_failure"},

		{"matcher of a wrong type", head + `matcher = 3`, hook.StateInvalid, "error wrong_type:4", "matcher want a string, got the number 3 quotes"},
		{"command of a wrong type", "event = \"PreToolUse\"\ncommand = 3", hook.StateInvalid, "error wrong_type:3", "command want a string"},
		{"args of a wrong type", head + `args = "-v"`, hook.StateInvalid, "error wrong_type:4", "args want a list of strings"},
		{"args with a number", head + `args = ["-n", 3]`, hook.StateInvalid, "error wrong_type:4", "args want a list of strings, got the number 3"},
		{"two lists of arguments", "event = \"PreToolUse\"\ncommand = [\"x\"]\nargs = [\"y\"]", hook.StateInvalid, "error wrong_type:3", "command args"},
		{"event of a wrong type", "event = 3\ncommand = \"x\"", hook.StateInvalid, "error wrong_type:2", "event"},
		{"async as text", head + `async = "true"`, hook.StateReady, "warning wrong_type:4", "async true or false leave out the quotes"},
		{"enabled as text", head + `enabled = "no"`, hook.StateInvalid, "error wrong_type:4", "enabled"},
		{"priority as text", head + `priority = "5"`, hook.StateInvalid, "error wrong_type:4", "priority an integer leave out the quotes"},
		{"priority with a fraction", head + `priority = 1.5`, hook.StateInvalid, "error wrong_type:4", "priority"},
		{"description of a wrong type", head + `description = 3`, hook.StateReady, "warning wrong_type:4", "description"},
		{"name of a wrong type", head + `name = 3`, hook.StateInvalid, "error wrong_type:4", "name"},
		{"requires of a wrong type", head + `requires = "jq"`, hook.StateInvalid, "error wrong_type:4", "requires a table"},
		{"bins of a wrong type", head + "[requires]\nbins = 3", hook.StateInvalid, "error wrong_type:5", "requires.bins"},
		{"variable of a wrong type", head + "[env]\nA = 1.10", hook.StateInvalid, "error wrong_type:5", "env.A quotes"},
		{"variable without a name", head + "[env]\n\"A=B\" = \"x\"", hook.StateInvalid, "error unknown_value:5", "A=B"},
		{"key without a name", head + `"" = 1`, hook.StateReady, "warning unknown_key:4", `"": no such key`},
		{"name with a line break", head + `name = "a\nb"`, hook.StateInvalid, "error unknown_value:4", `name "a\nb"`},
		{"name with a NUL", head + `name = "a\u0000b"`, hook.StateInvalid, "error unknown_value:4", "name"},
		{"name that turns the reading direction", head + "name = \"a\u202eb\"", hook.StateInvalid, "error unknown_value:4", "name"},
		{"name that is too long", head + `name = "` + strings.Repeat("x", 101) + `"`, hook.StateInvalid, "error unknown_value:4", "name 100"},
		{"command with a NUL", "event = \"PreToolUse\"\ncommand = \"a\\u0000b\"", hook.StateInvalid, "error unknown_value:3", "command NUL"},
		{"argument with a NUL", head + `args = ["a\u0000b"]`, hook.StateInvalid, "error unknown_value:3", "NUL"},
		{"queue of a wrong type", head + "async = true\nqueue = 5", hook.StateInvalid, "error wrong_type:5", "queue a string quotes"},
		{"matcher beyond any integer", head + `matcher = 99999999999999999999`, hook.StateInvalid, "error wrong_type:4", "matcher number 99999999999999999999 quotes"},
		{"matcher beyond any float", head + `matcher = -1e999`, hook.StateInvalid, "error wrong_type:4", "matcher number -1e999"},
		{"matcher beyond any integer, in base 16", head + `matcher = 0xFFFFFFFFFFFFFFFFFF`, hook.StateInvalid, "error wrong_type:4", "matcher number"},
		{"sandbox without such a mode, dotted", head + `sandbox.mode = "x"`, hook.StateInvalid, "error unknown_value:4", "sandbox.mode x"},
		{"sandbox without such a mode, in a table", head + "[sandbox]\nmemory = \"1GiB\"\nmode = \"x\"", hook.StateInvalid, "error unknown_value:6", "sandbox.mode x"},
		{"sandbox with a relative path", head + "[sandbox]\nmode = \"reap\"\nallow_read = [\"a\"]", hook.StateInvalid, "error unknown_value:6", "sandbox.allow_read"},
		{"table of a wrong key, dotted", head + `requires.bins.x = 1`, hook.StateInvalid, "error wrong_type:4", "requires.bins a table"},
		{"date", head + `matcher = 2024-01-01`, hook.StateInvalid, "error wrong_type:4", "a date"},
		{"failures of a wrong type", head + "[breaker]\nfailures = \"5\"", hook.StateInvalid, "error wrong_type:5", "breaker.failures"},

		{"unknown kind", head + `type = "comand"`, hook.StateInvalid, "error unknown_value:4", `type "comand" did you mean "command"?`},
		{"callback in a file", head + `type = "callback"`, hook.StateInvalid, "error unknown_value:4", "type"},
		{"unknown protocol", head + `protocol = "moltus"`, hook.StateInvalid, "error unknown_value:4", `protocol did you mean "moltis"?`},
		{"unknown policy", head + `on_failure = "blck"`, hook.StateInvalid, "error unknown_value:4", `on_failure did you mean "block"?`},
		{"unknown shell", head + `shell = "bahs"`, hook.StateInvalid, "error unknown_value:4", `shell did you mean "bash"?`},
		{"unknown system", head + `requires = {os = ["linus"]}`, hook.StateReady, "warning unknown_value:4", `os did you mean "linux"?`},

		{"negative timeout", head + `timeout = -5`, hook.StateInvalid, "error bad_timeout:4", "timeout -5 negative"},
		{"negative timeout as text", head + `timeout = "-5s"`, hook.StateInvalid, "error bad_timeout:4", "timeout negative"},
		{"overflowing timeout", head + `timeout = 9223372036854775807`, hook.StateInvalid, "error bad_timeout:4", "timeout too long"},
		{"timeout beyond any integer", head + `timeout = 99999999999999999999`, hook.StateInvalid, "error bad_timeout:4", "timeout 99999999999999999999"},
		{"timeout without meaning", head + `timeout = "abc"`, hook.StateInvalid, "error bad_timeout:4", `timeout want seconds or a duration like "5s", got "abc"`},
		{"timeout that is no number", head + `timeout = nan`, hook.StateInvalid, "error bad_timeout:4", "timeout"},
		{"infinite timeout", head + `timeout = inf`, hook.StateInvalid, "error bad_timeout:4", "timeout too long"},
		{"timeout of a wrong type", head + `timeout = [5]`, hook.StateInvalid, "error bad_timeout:4", "timeout a list"},
		{"no timeout", head + `timeout = 0`, hook.StateReady, "warning zero_timeout:4", "timeout default"},
		{"timeout in milliseconds", head + `timeout = 5000`, hook.StateReady, "warning milliseconds:4", "timeout 5000 seconds write 5"},
		{"cooldown without meaning", head + "[breaker]\ncooldown = \"soon\"", hook.StateInvalid, "error bad_cooldown:5", "breaker.cooldown"},

		{"misspelt event", "event = \"PreTolUse\"\ncommand = \"x\"\nmatcher = \"Bash\"", hook.StateInvalid, "error unknown_event:2", `"PreTolUse" did you mean PreToolUse?`},
		{"event in another case", "event = \"pre_tool_use\"\ncommand = \"x\"", hook.StateInvalid, "error unknown_event:2", "did you mean PreToolUse?"},
		{"event of the host's own", "event = \"TeatimeReached\"\ncommand = \"x\"", hook.StateReady, "warning unknown_event:2", `"TeatimeReached"`},
		{"event named twice", "events = [\"Stop\", \"Stop\"]\ncommand = \"x\"", hook.StateReady, "warning duplicate_event:2", "Stop"},
		{"no event", "command = \"x\"", hook.StateInvalid, "error missing_event:1", "event"},
		{"empty event", "command = \"x\"\nevent = \"\"", hook.StateInvalid, "error missing_event:3", "event"},
		{"no command", "event = \"Stop\"", hook.StateUnsupported, "warning missing_command:2", "command"},
		{"blank command", "event = \"Stop\"\ncommand = \"  \"", hook.StateUnsupported, "warning missing_command:3", "command"},
		{"no command in a command hook", "event = \"Stop\"\ntype = \"command\"", hook.StateInvalid, "error missing_command:3", "command"},
		{"url without a type", "event = \"Stop\"\nurl = \"https://x\"", hook.StateUnsupported, "warning missing_command:2", `type = "http"`},
		{"no url", "event = \"Stop\"\ntype = \"http\"", hook.StateInvalid, "error missing_url:3", `"http" needs a url`},
		{"no server", "event = \"Stop\"\ntype = \"mcp\"\ntool = \"t\"", hook.StateInvalid, "error missing_server:3", "server"},
		{"no tool", "event = \"Stop\"\ntype = \"mcp\"\nserver = \"s\"", hook.StateInvalid, "error missing_tool:3", "tool"},
		{"no prompt", "event = \"Stop\"\ntype = \"prompt\"\nprompt = \"\"", hook.StateInvalid, "error missing_prompt:3", "prompt"},
		{"url of a wrong type", "event = \"Stop\"\ntype = \"http\"\nurl = 3", hook.StateInvalid, "error wrong_type:4", "url"},
		{"header of a wrong type", "event = \"Stop\"\ntype = \"http\"\nurl = \"x\"\nheaders = {A = 1}", hook.StateInvalid, "error wrong_type:5", "headers a table of strings"},
		{"number that JSON does not have", "event = \"Stop\"\ntype = \"mcp\"\nserver = \"s\"\ntool = \"t\"\ninput = {n = nan}", hook.StateInvalid, "error wrong_type:6", "input"},
		{"expression that is empty", "event = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"allow\"\nwhen = \"\"", hook.StateInvalid, "error unknown_value:5", "when leave the key out"},
		{"paths that are empty", "event = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"allow\"\ntouches = \"\"", hook.StateInvalid, "error unknown_value:5", "touches leave the key out"},
		{"exception that is empty", "event = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"allow\"\nunless = \"\"", hook.StateInvalid, "error unknown_value:5", "unless leave the key out"},
		{"rule that is empty", head + `if = ""`, hook.StateInvalid, "error unknown_value:4", "if leave the key out"},
		{"condition that is empty", "event = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"r\"\nnetwork = \"\"", hook.StateInvalid, "error wrong_type:6", "network true or false"},
		{"headers that are empty", "event = \"Stop\"\ntype = \"http\"\nurl = \"x\"\nheaders = \"\"", hook.StateInvalid, "error wrong_type:5", "headers"},
		{"decision of a wrong type", "event = \"PreToolUse\"\ntype = \"rule\"\nreason = \"r\"\ndecision = 5", hook.StateInvalid, "error wrong_type:5", "decision a string"},
		{"url on a command hook", head + `url = "https://x"`, hook.StateReady, "warning unused_key:4", "url command http"},
		{"command on an http hook", "event = \"Stop\"\ntype = \"http\"\nurl = \"x\"\ncommand = \"y\"", hook.StateReady, "warning unused_key:5", "command http"},

		{"matcher that nothing tests", "event = \"Stop\"\ncommand = \"x\"\nmatcher = \"Bash\"", hook.StateReady, "warning no_effect:4", "matcher Stop"},
		{"rule that nothing tests", "event = \"Stop\"\ncommand = \"x\"\nif = \"Bash(x)\"", hook.StateUnsupported, "warning if_never:4", "if Stop never runs"},
		{"policy without effect", "event = \"Stop\"\ncommand = \"x\"\non_failure = \"block\"", hook.StateReady, "warning no_effect:4", "on_failure Stop"},
		{"policy on what cannot be blocked", "event = \"SessionEnd\"\ncommand = \"x\"\non_failure = \"block\"", hook.StateReady, "warning no_effect:4", "on_failure SessionEnd"},
		{"policy in the background", head + "async = true\non_failure = \"block\"", hook.StateReady, "warning no_effect:5", "on_failure"},
		{"rewrite of nothing", "event = \"Stop\"\ncommand = \"x\"\nrewrites = true", hook.StateReady, "warning no_effect:4", "rewrites Stop"},
		{"shell that is not used", head + "args = []\nshell = \"bash\"", hook.StateReady, "warning no_effect:5", "shell"},
		{"kind that the event does not take", "event = \"SessionStart\"\ntype = \"prompt\"\nprompt = \"x\"", hook.StateUnsupported, "warning unsupported_kind:3", "SessionStart prompt"},
		{"switched off", head + `enabled = false`, hook.StateDisabled, "", ""},
		{"switched off and wrong", head + "enabled = false\nmatcher = 3", hook.StateDisabled, "error wrong_type:5", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, notes := one(t, inTOML(test.text))
			if h.State != test.state {
				t.Errorf("state %s (%s), want %s", h.State, h.Why, test.state)
			}
			if (h.State == hook.StateReady) != (h.Why == "") {
				t.Errorf("state %s, why %q", h.State, h.Why)
			}
			if got := strings.Join(short(notes), ", "); got != test.want {
				t.Fatalf("diagnostics %q, want %q", got, test.want)
			}
			for _, d := range notes {
				said := d.String()
				for _, word := range strings.Fields(test.words) {
					if !strings.Contains(said, word) {
						t.Errorf("%q does not say %q", said, word)
					}
				}
				if d.Hook != h.ID || d.Path != "HOOK.md" {
					t.Errorf("incomplete diagnostic %+v", d)
				}
			}
		})
	}
}

func TestM2OneBadKeyLosesNoOther(t *testing.T) {
	h, notes := one(t, inTOML(`name = "guard"
description = 3
event = "PreToolUse"
matcher = "Bash"
timeout = 99999999999999999999
priority = 99999999999999999999
on_failure = "block"
command = "x"
surprise = true`))
	if h.State != hook.StateInvalid || !strings.Contains(h.Why, "timeout") || h.Name != "guard" || h.Event != hook.EventPreToolUse ||
		h.Matcher != "Bash" || h.OnFailure != hook.FailureBlock || h.Command.Line != "x" {
		t.Errorf("%+v", h)
	}
	want := []string{"warning wrong_type:3", "error bad_timeout:6", "error wrong_type:7", "warning unknown_key:10"}
	if diff := cmp.Diff(want, short(notes)); diff != "" {
		t.Error(diff)
	}
}

func TestM2OneMisspeltEventHarmsNoOther(t *testing.T) {
	hooks, _ := manifest.Parse(source, []byte(inTOML("events = [\"PreToolUse\", \"PostTolUse\"]\ncommand = \"x\"\nmatcher = \"Bash\"")))
	if len(hooks) != 2 || hooks[0].State != hook.StateReady || hooks[1].State != hook.StateInvalid || hooks[1].Event != "PostTolUse" {
		t.Fatalf("%+v", hooks)
	}
	if !strings.Contains(hooks[1].Why, "PostToolUse") {
		t.Errorf("why %q names no event that was meant", hooks[1].Why)
	}
}

func TestMisspeltBlockBlocks(t *testing.T) {
	for word, want := range map[string]hook.FailurePolicy{"Block": "block", "blok": "block", "contine": "continue", "maybe": ""} {
		if h, _ := one(t, inTOML("event = \"PreToolUse\"\ncommand = \"x\"\non_failure = \""+word+"\"")); h.OnFailure != want || h.State != hook.StateInvalid {
			t.Errorf("%s: %q, %s", word, h.OnFailure, h.State)
		}
	}
}

// TestWhatCannotBeParsedIsOneInvalidHook has the line of the mistake in the file
// beside each text.
func TestWhatCannotBeParsedIsOneInvalidHook(t *testing.T) {
	tests := []struct {
		name, text, want, words string
	}{
		{"empty file", "", "error no_frontmatter:1", "+++"},
		{"no front matter", "\n# A hook\n\n+++\nevent = \"Stop\"\n+++\n", "error no_frontmatter:2", "+++"},
		{"object on one line", "{\"event\": \"Stop\"}\n", "error no_frontmatter:1", "line of its own"},
		{"no end", "\n+++\nevent = \"Stop\"\n", "error unclosed_frontmatter:2", "+++"},
		{"other end", "+++\nevent = \"Stop\"\n---\n", "error unclosed_frontmatter:1", "+++"},
		{"object without an empty line behind", "{\n\"event\": \"Stop\"\n}\nbody", "error unclosed_frontmatter:1", "empty line"},
		{"begun and nothing else", "---", "error unclosed_frontmatter:1", "---"},
		{"too large", strings.Repeat("x", manifest.MaxSize+1), "error too_large:1", "64 KiB"},

		{"TOML syntax", inTOML("event = \"Stop\"\ncommand = \"x\nname = \"y\""), "error syntax:3", "command"},
		{"TOML key twice", inTOML("event = \"Stop\"\n\nevent = \"Stop\""), "error duplicate_key:4", `"event" line 2`},
		{"TOML key twice in a table", inTOML("[env]\nA = \"1\"\nA = \"2\""), "error duplicate_key:4", `"env.A" line 3`},
		{"TOML table twice", inTOML("[env]\nA = \"1\"\n[env]"), "error duplicate_key:4", `"env" line 2`},
		{"TOML dotted key twice", inTOML("env.A = \"1\"\nenv . \"A\" = \"2\""), "error duplicate_key:3", `"env.A" line 2`},
		{"TOML string without end", inTOML("event = '''\nStop"), "error syntax:3", "event"},
		{"TOML header without end", inTOML("event = \"Stop\"\n[a\nx = 1"), "error syntax:3", "table"},
		{"TOML string without end, lines of Windows", "+++\r\nevent = \"Stop\"\r\ncommand = \"x\r\n+++\r\n", "error syntax:3", "command"},
		{"TOML key twice, the value in lines", inTOML("event = \"Stop\"\nevent = \"\"\"\nS\ntop\"\"\"\ncommand = \"x\""), "error duplicate_key:3", `"event" line 2`},
		{"TOML key twice, the value a list in lines", inTOML("event = \"Stop\"\nevent = [\n\"Stop\",\n]\ncommand = \"x\""), "error duplicate_key:3", `"event" line 2`},
		{"TOML escape in lines", inTOML("event = \"\"\"\nSt\\qop\n\n\"\"\""), "error syntax:3", "escape"},
		{"TOML list of tables, broken", inTOML("[[x]]\n[[x]] junk"), "error syntax:3", "newline"},
		{"TOML quoted key like a dotted one", inTOML("\"a.b\" = 1\na.b = \"c"), "error syntax:3", "newlines"},
		{"UTF-16", "\xff\xfe+\x00+\x00+\x00\n\x00", "error not_utf8:1", "UTF-16 UTF-8"},
		{"UTF-16, the other way around", "\xfe\xff\x00+\x00+\x00+\x00\n", "error not_utf8:1", "UTF-16 UTF-8"},
		{"lines of old", "+++\revent = \"Stop\"\r+++\r", "error no_frontmatter:1", "carriage newline"},
		{"NUL", inTOML("event = \"St\x00op\""), "error syntax:2", "control"},
		{"no UTF-8", inTOML("event = \"St\xffop\""), "error not_utf8:2", "UTF-8"},

		{"YAML syntax", inYAML("event: Stop\ncommand: [a"), "error syntax:3", ""},
		{"YAML indentation", inYAML("event: Stop\n  command: a"), "error syntax:3", "mapping"},
		{"YAML list among keys", inYAML("event: Stop\n- a"), "error syntax:3", "key"},
		{"YAML control character", inYAML("event: Stop\ncommand: \"a\x01b\""), "error syntax:3", `U+0001 \u0001`},
		{"YAML control character of old", inYAML("event: Stop\ncommand: \"a\u009bb\""), "error syntax:3", "U+009B"},
		{"YAML directive", inYAML("event: Stop\n%YAML 1.2"), "error syntax:3", "YAML"},
		{"YAML tag", inYAML("event: Stop\ncommand: !x!y z"), "error syntax:3", "tag"},
		{"YAML tab", inYAML("event: Stop\n\tcommand: a"), "error syntax:3", "tab"},
		{"YAML key twice", inYAML("event: Stop\ncommand: a\nevent: Stop"), "error duplicate_key:4", `"event"`},
		{"YAML alias", inYAML("event: &e Stop\nmatcher: *e"), "error alias:3", "*e"},
		{"YAML unknown alias", inYAML("event: Stop\nmatcher: *e"), "error alias:3", "*e"},
		{"YAML merge", inYAML("env: &e {A: b}\nbreaker:\n  <<: *e"), "error alias:4", "*e"},
		{"YAML list", inYAML("- event: Stop"), "error wrong_type:2", "a list"},
		{"YAML text", inYAML("just text"), "error wrong_type:2", "just text"},
		{"YAML key that is a list", inYAML("event: Stop\n[a, b]: c"), "error syntax:3", "key"},
		{"YAML second document", inYAML("event: Stop\n...\nmatcher: x"), "error syntax:4", ""},

		{"JSON syntax", "{\n\"event\": \"Stop\"\n\"command\": \"x\"\n}\n\n", "error syntax:3", ""},
		{"JSON key twice", "{\n\"event\": \"Stop\",\n\"event\": \"Stop\"\n}\n\n", "error duplicate_key:3", `"event"`},
		{"JSON key twice below", ";;;\n{\"env\": {\"A\": \"1\",\n\"A\": \"2\"}}\n;;;\n", "error duplicate_key:3", `"A"`},
		{"JSON twice", ";;;\n{}\n{}\n;;;\n", "error syntax:3", "behind"},
		{"JSON string with a line break", ";;;\n{\"a\": 1,\n\"b\": \"x\ny\"}\n;;;\n", "error syntax:3", "string line break"},
		{"JSON list", ";;;\n[]\n;;;\n", "error wrong_type:2", "a list"},
		{"JSON without end", ";;;\n{\"a\": 1,\n\n;;;\n", "error syntax:2", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, notes := one(t, test.text)
			if h.State != hook.StateInvalid || h.Event != "" || h.Name != "folder" || h.Kind != hook.KindCommand {
				t.Errorf("%+v", h)
			}
			if diff := cmp.Diff([]string{test.want}, short(notes)); diff != "" {
				t.Fatal(diff, notes)
			}
			if h.Why != notes[0].Message {
				t.Errorf("why %q, diagnostic %q", h.Why, notes[0].Message)
			}
			said := notes[0].String()
			for _, word := range strings.Fields(test.words) {
				if !strings.Contains(said, word) {
					t.Errorf("%q does not say %q", said, word)
				}
			}
		})
	}
}

// Comments and a comma behind the last item are read, and other readers are
// warned of.
func TestJSONThatOthersRefuseIsReadWithAWarning(t *testing.T) {
	h, notes := one(t, "{\n\"event\": \"Stop\", // why }\n\"command\": \"x\",\n}\n\n")
	if diff := cmp.Diff([]string{"warning json_comment:2", "warning trailing_comma:3"}, short(notes)); diff != "" || h.State != hook.StateReady || h.Command.Line != "x" {
		t.Errorf("%s: %+v", diff, h)
	}
}

// A key that YAML or JSON has without a value counts as absent, and that is said.
func TestKeyWithoutAValueIsSaid(t *testing.T) {
	for text, want := range map[string][]string{
		inYAML("event: Stop\ncommand: x\non_failure:\nmatcher: ~"):          {"warning no_value:4", "warning no_value:5"},
		inYAML("event: Stop\ncommand: x\nrequires:\n  bins:"):               {"warning no_value:5"},
		"{\n\"event\": \"Stop\",\n\"command\": \"x\",\n\"if\": null\n}\n\n": {"warning no_value:4"},
		inYAML("event: Stop\ncommand: x\n_note:\n$schema:"):                 nil,
	} {
		h, notes := one(t, text)
		if diff := cmp.Diff(want, short(notes)); diff != "" || h.State != hook.StateReady {
			t.Errorf("%s: %s %s", text, diff, h.Why)
		}
	}
}

// YAML 1.1 had numbers that YAML 1.2 does not: 010 was 8.
func TestNumbersOfOldYAMLAreText(t *testing.T) {
	for value, want := range map[string]string{"0644": "0644", "1_000": "1_000", "0b11": "0b11", "-017": "-017", "yes": "yes",
		"0": "0", "-5": "-5", "True": "true"} {
		h, notes := one(t, inYAML("event: Stop\ncommand: x\nenv: {A: "+value+"}"))
		if got := h.Env["A"]; got != want || len(notes) > 0 {
			t.Errorf("%s: %q, want %q %v", value, got, want, notes)
		}
	}
	if h, notes := one(t, inYAML("event: Stop\ncommand: x\ntimeout: 010")); h.State != hook.StateInvalid || len(notes) != 1 || notes[0].Code != "bad_timeout" {
		t.Errorf("%s %v", h.State, notes)
	}
}

// A variable is what was written, or an error says so: 0o644 would arrive as 420.
func TestNumberOfAVariableArrivesAsItWasWritten(t *testing.T) {
	const head = "event = \"Stop\"\ncommand = \"x\"\ntimeout = 0x10\n"
	for _, value := range []string{"0", "7", "-5", "644", "9223372036854775807"} {
		for _, text := range []string{inTOML(head + "env = {A = " + value + "}"), inTOML(head + "[env]\nA = " + value), inYAML("event: Stop\ncommand: x\nenv: {A: " + value + "}"),
			"{\n\"event\": \"Stop\", \"command\": \"x\", \"env\": {\"A\": " + value + "}\n}\n\n"} {
			if h, notes := one(t, text); h.Env["A"] != value || len(notes) > 0 {
				t.Errorf("%s: %q %v", text, h.Env["A"], notes)
			}
		}
	}
	inBoth := []string{"0x10", "0xfF", "0o17", "+5", "1.0", "1e3", "1.5", "-0.0"}
	for _, value := range append([]string{"0b1", "1_000", "-1_0", "-0"}, inBoth...) {
		for _, text := range []string{head + "env.A = " + value, head + "[env]\n\"A\" = " + value + " # 5", head + "env = {B = 2, A =" + value + ",C=\"0x10\"}", head + "env = {\n A = " + value + "\n}"} {
			wantWritten(t, inTOML(text), value)
		}
	}
	for _, value := range inBoth {
		wantWritten(t, inYAML("event: Stop\ncommand: x\nenv: {B: 5, A: "+value+"}"), value)
	}
}

func wantWritten(t *testing.T, text, value string) {
	t.Helper()
	h, notes := one(t, text)
	if h.State != hook.StateInvalid || len(notes) != 1 || notes[0].Code != "wrong_type" || !strings.HasPrefix(notes[0].Message, "env.A: ") ||
		!strings.HasSuffix(notes[0].Message, "got the number "+value) || notes[0].Hint != "put it in quotes" {
		t.Errorf("%s: %s %v", text, h.State, notes)
	}
}

// Dates reach a tool's arguments as they are written.
func TestDatesAmongParametersAreText(t *testing.T) {
	h, notes := one(t, inTOML("event = \"Stop\"\ntype = \"mcp\"\nserver = \"s\"\ntool = \"t\"\ninput = {a = 2026-01-02, b = 2026-01-02T03:04:05, c = 03:04:05, d = 2026-01-02T03:04:05+01:00}"))
	want := `{"a":"2026-01-02","b":"2026-01-02T03:04:05","c":"03:04:05","d":"2026-01-02T03:04:05+01:00"}`
	if got := string(h.Params["input"]); got != want || len(notes) > 0 {
		t.Errorf("%s, want %s %v", got, want, notes)
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5": 5 * time.Second, "0.25": 250 * time.Millisecond, "999": 999 * time.Second, `"500ms"`: 500 * time.Millisecond, `"2m"`: 2 * time.Minute,
		`"1h30m"`: 90 * time.Minute, `"1ns"`: 1, "1e1": 10 * time.Second, "5_0": 50 * time.Second, `"0s"`: 0,
	} {
		if h, notes := one(t, inTOML("event = \"Stop\"\ncommand = \"x\"\ntimeout = "+text)); h.Timeout != want || hook.HasErrors(notes) {
			t.Errorf("%s: %v, want %v; %v", text, h.Timeout, want, notes)
		}
	}
}

func TestManyStrangeKeysAreSaidInFewWords(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "strange%d = 1\n", i)
	}
	_, notes := one(t, inTOML("event = \"Stop\"\ncommand = \"x\"\n"+text.String()))
	if len(notes) != 21 || !strings.Contains(notes[20].Message, "80 more") {
		t.Errorf("%d diagnostics, the last %v", len(notes), notes[len(notes)-1])
	}
}
