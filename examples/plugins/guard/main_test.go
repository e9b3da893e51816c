package main

import (
	"encoding/json"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/serve/servetest"
)

func TestGuardJudges(t *testing.T) {
	host := servetest.New(t, server())
	for command, want := range map[string]hook.Verdict{
		"rm -rf /":                   hook.Deny,
		"cd x && rm --recursive ~/a": hook.Deny,
		"rm -rf build":               hook.NoOpinion,
		"rm /tmp/one-file":           hook.NoOpinion,
		"git push -f origin main":    hook.Deny,
		"git push origin main":       hook.NoOpinion,
	} {
		raw, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		out, err := host.Call(t.Context(), "irreversible", hook.PreToolUse{ToolName: "Bash", ToolInput: raw})
		if err != nil {
			t.Fatal(err)
		}
		got := hook.NoOpinion
		if out != nil {
			got = out.Verdict
		}
		if got != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
}
