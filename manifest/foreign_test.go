package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

func TestMoltisManifests(t *testing.T) {
	hooks, notes := manifest.Parse(source, []byte(inTOML(`name = "guard"
emoji = "🛡"
events = ["BeforeToolCall", "BeforeLLMCall", "SessionStart"]
command = "./handler.sh"
priority = 10
os = ["darwin"]
bins = ["jq"]
[env]
LEVEL = "high"
[requires]
env = ["TOKEN"]
config = ["workspace.dir"]`)))
	type row struct {
		Event    hook.Event
		Protocol hook.Protocol
		Timeout  time.Duration
		State    hook.State
	}
	var got []row
	for _, h := range hooks {
		got = append(got, row{h.Event, h.Protocol, h.Timeout, h.State})
	}
	want := []row{
		{hook.EventPreToolUse, hook.ProtocolMoltis, 10 * time.Second, hook.StateReady},
		{"BeforeLLMCall", hook.ProtocolMoltis, 10 * time.Second, hook.StateReady},
		{hook.EventSessionStart, hook.ProtocolMoltis, 10 * time.Second, hook.StateReady},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	need := hook.Requires{Bins: []string{"jq"}, Envs: []string{"TOKEN"}, OS: []string{"macos"}}
	if diff := cmp.Diff(need, hooks[0].Requires); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"warning no_effect:13"}, short(notes)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAMoltisManifestSaysItselfHolds(t *testing.T) {
	h, _ := one(t, inTOML("events = [\"BeforeToolCall\"]\ncommand = \"x\"\ntimeout = 5\nprotocol = \"claude\""))
	if h.Protocol != hook.ProtocolClaude || h.Timeout != 5*time.Second {
		t.Errorf("%s, %v", h.Protocol, h.Timeout)
	}
	h, _ = one(t, inTOML("events = [\"SessionStart\"]\ncommand = \"x\""))
	if h.Protocol != "" || h.Timeout != 0 {
		t.Errorf("a name that is ours as well: %s, %v", h.Protocol, h.Timeout)
	}
}

func TestStarpodMatchersAreSearched(t *testing.T) {
	h, notes := one(t, inTOML("event = \"PreToolUse\"\ncommand = \"x\"\nmatcher = \"Bash\"\nprotocol = \"starpod\""))
	if h.Syntax != hook.SyntaxRegexp || h.Protocol != hook.ProtocolStarpod || len(notes) != 0 {
		t.Errorf("%q %s %v", h.Syntax, h.Protocol, notes)
	}
}

func TestAMappingsMatcherYieldsToTheManifests(t *testing.T) {
	for text, want := range map[string]string{"": "clear", "\nmatcher: startup": "startup"} {
		hooks, _ := manifest.Parse(source, []byte(inYAML("events: [\"command:new\", \"command:reset\"]\ncommand: x"+text)))
		if len(hooks) != 1 || hooks[0].Event != hook.EventSessionStart || hooks[0].Matcher != want {
			t.Errorf("%+v", hooks)
		}
	}
}

func TestOpenclawManifests(t *testing.T) {
	tests := []struct {
		name, text string
		files      []string
		events     []hook.Event
		state      hook.State
		why        string
	}{
		{"block", inYAML("name: hello\nmetadata:\n  openclaw:\n    emoji: \"👋\"\n    events: [\"gateway:startup\", \"message:received\"]"), nil,
			[]hook.Event{"gateway:startup", hook.EventUserPromptSubmit}, hook.StateUnsupported, "openclaw"},
		{"JSON5 in YAML", inYAML("metadata:\n  {\n    \"openclaw\":\n      { \"events\": [\"agent:bootstrap\",], \"always\": true, },\n  }"), []string{"HOOK.md", "handler.ts"},
			[]hook.Event{"agent:bootstrap"}, hook.StateUnsupported, "handler.ts"},
		{"JSON5 as text", inYAML("metadata: '{\"openclaw\": {\"events\": [\"agent:bootstrap\",],}}'"), []string{"index.mjs"},
			[]hook.Event{"agent:bootstrap"}, hook.StateUnsupported, "index.mjs"},
		{"older key", inYAML("metadata: {clawdbot: {events: [command]}}"), []string{"handler.js"}, []hook.Event{"command"}, hook.StateUnsupported, "handler.js"},
		{"another host's key", inYAML("metadata: {version: 2, claws: {events: [\"trade:executed\"]}}"), nil, []hook.Event{"trade:executed"}, hook.StateUnsupported, "claws"},
		{"newer key first", inYAML("metadata: {moltbot: {events: [command]}, openclaw: {events: [\"session:patch\"]}}"), nil, []hook.Event{"session:patch"}, hook.StateUnsupported, "openclaw"},
		{"with a command", inYAML("metadata: {openclaw: {events: [\"session:patch\"]}}\ncommand: ./run"), []string{"handler.ts"}, []hook.Event{"session:patch"}, hook.StateReady, ""},
		{"trigger", inYAML("trigger: pre-tool-call\nmatcher: {tool: Shell}\ntimeout: 5000\nchannel: x\ncommand: /new"), nil, []hook.Event{"pre-tool-call"}, hook.StateUnsupported, "trigger"},
		{"trigger of another kind", inYAML("trigger: pre-tool-call\ntype: http\nurl: https://x"), nil, []hook.Event{"pre-tool-call"}, hook.StateUnsupported, "trigger"},
		{"no command and no host", inTOML("event = \"Stop\""), []string{"HOOK.md", "index.md", "handler.ts"}, []hook.Event{"Stop"}, hook.StateUnsupported, "handler.ts"},
		{"nothing beside it", inTOML("event = \"Stop\""), []string{"HOOK.md"}, []hook.Event{"Stop"}, hook.StateUnsupported, "no command"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := source
			src.Files = func() []string { return test.files }
			hooks, notes := manifest.Parse(src, []byte(test.text))
			var events []hook.Event
			for _, h := range hooks {
				events = append(events, h.Event)
				if h.State != test.state || !strings.Contains(h.Why, test.why) {
					t.Errorf("%s: %s", h.State, h.Why)
				}
			}
			if diff := cmp.Diff(test.events, events); diff != "" {
				t.Error(diff)
			}
			if hook.HasErrors(notes) || (test.state != hook.StateReady) != (len(notes) > 0) && test.name != "with a command" {
				t.Error(notes)
			}
		})
	}
}

func TestOpenclawRequirements(t *testing.T) {
	const text = "metadata: {openclaw: {events: [command], os: [win32], requires: {bins: [node], anyBins: [a, b], env: [TOKEN], config: [x]}%s}}\nrequires: {bins: [jq]}"
	h, _ := one(t, inYAML(strings.ReplaceAll(text, "%s", "")))
	want := hook.Requires{Bins: []string{"jq", "node"}, AnyBins: []string{"a", "b"}, Envs: []string{"TOKEN"}, OS: []string{"windows"}}
	if diff := cmp.Diff(want, h.Requires); diff != "" {
		t.Error(diff)
	}
	h, _ = one(t, inYAML(strings.ReplaceAll(text, "%s", ", always: true")))
	if diff := cmp.Diff(hook.Requires{Bins: []string{"jq"}}, h.Requires); diff != "" {
		t.Error("always:", diff)
	}
}

func TestMetadataWithoutAHostIsTold(t *testing.T) {
	h, notes := one(t, inYAML("metadata:\n  events: [\"session:start\"]"))
	if h.State != hook.StateInvalid || len(notes) != 2 || !strings.Contains(notes[0].String()+notes[1].String(), "metadata.openclaw") {
		t.Error(h.State, notes)
	}
}
