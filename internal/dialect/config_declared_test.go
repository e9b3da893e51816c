package dialect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// declare adds products for a test whose files have shapes that a product may
// choose: a root of its own, a list whose hooks name their events, and a text in
// the place of a hook.
func declare(t *testing.T) {
	names := map[string]counterpart{"beforePour": {event: hook.EventPreToolUse, matcher: "Bash"}, "closed": {event: hook.EventSessionEnd}}
	_ = configNames() // which is made once, without them
	before := products
	products = append(slices.Clone(before),
		&product{name: "urn", files: []configFile{{pattern: ".urn/config.yaml", form: formSettings}, {pattern: ".urn/hooks.yaml"}}, root: "automation.hooks",
			alias: map[string]string{"tools": "matcher", "steps": "hooks", "cmd": "command"}, events: productEvents{product: "urn", names: names}, unit: time.Second},
		&product{name: "jug", files: []configFile{{pattern: ".jug/hooks.toml"}}, root: "hook", listed: "on",
			alias: map[string]string{"run": "command"}, events: productEvents{product: "jug", names: names}, flat: true, unit: time.Second},
		&product{name: "row", files: []configFile{{pattern: ".row/hooks.json"}}, listed: "on", events: productEvents{product: "row", names: names}, flat: true, unit: time.Second},
		&product{name: "tin", files: []configFile{{pattern: ".tin/settings.json", form: formSettings}}, root: "triggers",
			events: productEvents{product: "tin", names: names}, flat: true, short: true, unit: time.Second},
		&product{name: "pot", files: []configFile{{pattern: ".pot/settings.json", form: formSettings}}, single: map[string]hook.Event{"line": hook.EventStatusLine}, unit: time.Second,
			settle: func(h *hook.Hook, _ *entry, name string) { h.Description = "of " + name }})
	t.Cleanup(func() { products = before })
}

func TestAProductMayChooseWhereItsEventsStand(t *testing.T) {
	declare(t)
	const pour, closed = `PreToolUse "Bash" command `, `SessionEnd command `
	checkConfigs(t, []configCase{
		{"a root", ".urn/config.yaml", "automation:\n  hooks:\n    beforePour:\n      - tools: Bash\n        steps:\n          - type: command\n            cmd: a\n            timeout: 3\n", "urn",
			[]string{`PreToolUse "^(?=(?:Bash)$).*(?:Bash)"/regexp command "a" 3s`}, nil},
		{"a root in another file", "x.yaml", "automation:\n  hooks:\n    closed:\n      - steps: [{type: command, cmd: a}]\n", "urn", []string{closed + `"a"`}, nil},
		{"settings without it", ".urn/config.yaml", "automation: {}\n", "urn", nil, nil},
		{"hooks of others in another root", ".urn/config.yaml", "hooks: {}\n", "urn", nil, nil},
		{"a root that is a text", ".urn/config.yaml", "automation: {hooks: a}\n", "urn", nil, []string{"1 e wrong_type"}},
		{"a list", ".jug/hooks.toml", "[[hook]]\non = ['beforePour', 'closed']\nrun = 'a'\n[[hook]]\non = 'closed'\nrun = 'b'\n", "jug",
			[]string{pour + `"a"`, closed + `"a"`, closed + `"b"`}, nil},
		{"a list in another file", "x.toml", "[[hook]]\non = 'other'\nrun = 'a'\n[[hook]]\non = 'closed'\nrun = 'b'\n", "jug", []string{`other command "a"`, closed + `"b"`}, []string{"2 w unknown_event"}},
		{"a hook of a list without an event", ".jug/hooks.toml", "[[hook]]\nrun = 'a'\n[[hook]]\non = []\nrun = 'b'\n[[hook]]\non = 'closed'\nrun = 'c'\n", "jug",
			[]string{` command "a" (invalid)`, ` command "b" (invalid)`, closed + `"c"`}, []string{"1 e unknown_event", "4 e unknown_event"}},
		{"a list that this product does not read", ".claude/settings.json", "{\"hooks\": [\n{\"command\": \"a\",\n\"event\": \"preToolUse\"},\n{\"command\": \"a\",\n\"type\": \"stop\"}]}", "claude",
			[]string{`preToolUse command (invalid)`, `stop command (invalid)`}, []string{"1 e wrong_type", "3 e unknown_event", "5 e unknown_event"}},
		{"a list under hooks", ".row/hooks.json", `{"hooks": [{"on": ["closed"], "command": "a"}]}`, "row", []string{closed + `"a"`}, nil},
		{"a text", ".tin/settings.json", `{"triggers": {"beforePour": "a", "closed": {"command": "b"}}}`, "tin", []string{pour + `"a"`, closed + `"b"`}, nil},
		{"hooks within a root", ".tin/settings.json", `{"triggers": {"hooks": {"closed": "a"}}}`, "tin", []string{closed + `"a"`}, []string{"1 w nested_hooks"}},
		{"texts in a list", ".tin/settings.json", `{"triggers": {"closed": ["a", {"command": "b"}, "", 7]}}`, "tin",
			[]string{closed + `"a"`, closed + `"b"`, `SessionEnd command (invalid)`, `SessionEnd command (invalid)`}, []string{"1 e wrong_type", "1 e wrong_type"}},
		{"an empty text", ".tin/settings.json", `{"triggers": {"closed": "", "beforePour": 7}}`, "tin",
			[]string{`SessionEnd command (invalid)`, `PreToolUse "Bash" command (invalid)`}, []string{"1 e wrong_type", "1 e wrong_type"}},
		{"a text is no hook of others", ".claude/settings.json", `{"hooks": {"Stop": "a", "Setup": ["b"]}}`, "claude",
			[]string{`Stop command (invalid)`, `Setup command (invalid)`}, []string{"1 e wrong_type", "1 e wrong_type"}},
	})
}

func TestAFileOfAProductWithARootNamesItWhereItIsMissing(t *testing.T) {
	declare(t)
	got := ReadConfig(ConfigSource{Source: hook.Source{Path: "/x/.urn/hooks.yaml"}, Product: "urn"}, []byte("a: 1\n"))
	if len(got.Notes) != 1 || got.Notes[0].Hint != `put them under the key "automation.hooks", by event` {
		t.Errorf("%v", got.Notes)
	}
}

func TestAProductMaySettleAHookByTheNameOfItsEvent(t *testing.T) {
	declare(t)
	got := readText(".pot/settings.json", `{"line": {"type": "command", "command": "a"}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}`)
	if len(got.Hooks) != 2 || got.Hooks[0].Description != "of Stop" || got.Hooks[1].Description != "of line" {
		t.Errorf("%v %v", describeAll(got), got.Notes)
	}
}

func TestHooksOfAListAreNamedAfterTheirPlace(t *testing.T) {
	declare(t)
	for path, want := range map[string]string{".jug/hooks.toml": "hooks.toml:hook[1]", ".row/hooks.json": "hooks.json:hooks[1]"} {
		text := map[string]string{".jug/hooks.toml": "[[hook]]\non = 'closed'\nrun = 'a'\n[[hook]]\non = 'closed'\nrun = 'b'\n",
			".row/hooks.json": `{"hooks": [{"on": "closed", "command": "a"}, {"on": "closed", "command": "b"}]}`}[path]
		if got := readText(path, text); len(got.Hooks) != 2 || got.Hooks[1].Name != want {
			t.Errorf("%s: %v", path, describeAll(got))
		}
	}
}

func TestHooksOfAListAreBounded(t *testing.T) {
	declare(t)
	for n, want := range map[int]int{1000: 0, 1001: 1} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "[[hook]]\non = ['beforePour', 'closed']\nrun = 'a%d'\n", i)
		}
		if got := readText(".jug/hooks.toml", text.String()); len(got.Hooks) != 2000 || len(got.Notes) != want {
			t.Errorf("%d of two events each: %d hooks, %v", n, len(got.Hooks), got.Notes)
		}
	}
}
