package agents

import (
	"testing"

	"github.com/tenterhook/tenterhook/internal/agents/loopback"
)

func TestPluginOfTheClientObeysTheHooksOfAFolder(t *testing.T) {
	for _, name := range []string{"opencode", "pi"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, name)
			w.hook("deny", onTouch("deny"), "echo REASON-DENY >&2; exit 2")
			w.hook("crash-block", onTouch("crash-block")+"on_failure = \"block\"\n", "kill -9 $$")
			w.hook("rewrite", onTouch("rewrite"), specificAnswer(`"updatedInput":{"command":"touch @D@/rewritten","description":"x"}`))
			w.hook("context", onTouch("context"), specificAnswer(`"additionalContext":"CONTEXT-BEFORE"`))
			w.hook("prompt", "event = \"UserPromptSubmit\"\n", "grep -q SECRETWORD && { echo REASON-PROMPT >&2; exit 2; }; exit 0")
			w.install()
			var turns []loopback.Turn
			for _, file := range []string{"deny", "crash-block", "rewrite", "context", "free"} {
				turns = append(turns, w.touch("x-"+file))
			}
			s := w.prompt("run it", loopback.Conversation{Turns: append(turns, loopback.Turn{Text: "all done"})})
			s.want("x-free", true, "CONTEXT-BEFORE")
			s.want("x-deny", false, "REASON-DENY")
			s.want("x-crash-block", false, "crash-block")
			s.want("x-rewrite", false)
			s.want("rewritten", true)
			if s := w.prompt("run SECRETWORD", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-blocked")}}); s.ran("x-blocked") || s.model.Told("SECRETWORD") {
				t.Errorf("the prompt was sent\n%s", s.out)
			}
			if out, err := w.run("tenterhook", "uninstall", name, "--yes"); err != nil {
				t.Errorf("uninstall: %v\n%s", err, out)
			}
		})
	}
}
