package agents

import (
	"os"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/internal/agents/loopback"
	programs "github.com/tenterhook/tenterhook/internal/built"
)

// disarms are settings with which the real client runs a call that a hook
// denies. @W@ stands for the workspace. Each takes a session of the client, so
// the first of each client is tried, and all with TENTERHOOK_TEST_ALL_SWITCHES=1.
var disarms = map[string][]struct{ path, text string }{
	"claude":  {{"w/.claude/settings.json", `{"disableAllHooks": true}`}, {"w/.claude/settings.local.json", `{"disableAllHooks": true}`}},
	"codex":   {{"h/.codex/config.toml", "[features]\ncodex_hooks = false\n"}, {"w/.codex/config.toml", "[features]\nhooks = false\n"}},
	"gemini":  {{"w/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`}, {"w/.gemini/settings.json", `{"hooksConfig": {"disabled": ["tenterhook"]}}`}, {"h/.gemini/extensions/extension-enablement.json", `{"tenterhook": {"overrides": ["!@W@/*"]}}`}},
	"copilot": {{"w/.claude/settings.json", `{"disableAllHooks": true}`}, {"w/.github/copilot/settings.json", `{"disableAllHooks": true}`}},
	"qwen":    {{"w/.qwen/settings.json", `{"disableAllHooks": true}`}},
	"pi":      {{"h/.pi/agent/settings.json", `{"extensions": ["-extensions/tenterhook.ts"]}`}, {"h/.pi/agent/settings.json", `{"extensions": ["!**/tenterhook.ts"]}`}},
}

func TestVerifyFindsWhatDisarmsTheRealClient(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	t.Parallel()
	for name, list := range disarms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv("TENTERHOOK_TEST_ALL_SWITCHES") == "" {
				list = list[:1]
			}
			w := newWorld(t, name)
			w.hook("deny", onTouch("deny"), "echo REASON-DENY >&2; exit 2")
			w.install()
			for _, d := range list {
				path := w.dir + "/" + d.path
				kept := ""
				if data, ok := snapshot(t, w.dir)[path]; ok {
					kept = data
				}
				text := strings.ReplaceAll(d.text, "@W@", w.workspace)
				if strings.HasSuffix(path, ".toml") {
					if strings.HasPrefix(d.path, "w/") {
						w.trustProject()
					}
					text += "\n" + kept
				}
				write(t, path, []byte(text))
				out, err := w.run("tenterhook", "agents", "verify", name)
				found := err != nil && strings.Contains(out, "switches the hooks of")
				file := "x-deny" + digest([]byte(d.path + d.text))[:6]
				s := w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{{Calls: []loopback.Call{clients[name].shell("touch " + w.dir + "/" + file + " " + w.dir + "/x-deny")}}, {Text: "all done"}}})
				if s.ran(file) != found {
					t.Errorf("%s with %s: the call ran: %v, verify finds it: %v\n%s", d.path, d.text, s.ran(file), found, out)
				} else if !found {
					t.Errorf("%s with %s: it disarms nothing", d.path, d.text)
				}
				w.sawIf(bridge.HooksSurvive, !s.ran(file))
				write(t, path, []byte(kept))
				if kept == "" {
					w.remove(path)
				}
			}
		})
	}
}
