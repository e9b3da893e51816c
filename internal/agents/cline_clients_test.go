package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/internal/agents/loopback"
	programs "github.com/tenterhook/tenterhook/internal/built"
)

// TestClineObeysTheHooksOfAFolder has a session for each denial: a denial ends
// Cline's run.
func TestClineObeysTheHooksOfAFolder(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	t.Parallel()
	w := newWorld(t, "cline")
	before := snapshot(t, w.home)
	w.hooksOfAFolder()
	w.hook("no-prompt", "event = \"UserPromptSubmit\"\n", "grep -q SECRETWORD && { echo REASON-PROMPT >&2; exit 2; }; exit 0")
	w.hook("stopper", onTouch("stop"), `echo '{"continue":false,"stopReason":"REASON-HALT"}'`)
	w.hook("end", "event = \"PostToolUse\"\nmatcher = \"Bash\"\n", `grep -q -e -end && echo '{"continue":false,"stopReason":"REASON-END"}'; exit 0`)
	w.hook("drop", onTouch("drop"), "grep -q x-drop || exit 0; mv @D@/bin/tenterhook-bridge @D@/bin/moved")
	w.hook("who", onTouch("who"), "cat > @D@/who")
	w.hook("killer", onTouch("kill")+"timeout = 30\n", killDaemon)
	w.install()

	play := func(prompt string, turns ...loopback.Turn) *session {
		t.Helper()
		return w.prompt(prompt, loopback.Conversation{Turns: append(turns, loopback.Turn{Text: "all done"})})
	}
	s := play("run SECRETWORD", w.touch("x-crash-continue", "x-timeout-continue", "x-context"), w.line("echo say-feedback"), w.line("printf 423; printf 45"),
		w.touch("x-rewrite"), w.touch("x-kill"), w.touch("x-end"), w.touch("x-more"), loopback.Turn{Calls: []loopback.Call{w.writeCall("x.open")}})
	s.want("x-crash-continue", true)
	s.want("x-timeout-continue", true)
	s.want("x-context", true)
	s.want("killed", true)
	s.want("w/x.open", true)
	s.want("x-rewrite", false)
	s.sawIf(bridge.Rewrite, s.ran("rewritten"))
	s.sawIf(bridge.BlockPrompt, !s.model.Told("SECRETWORD"))
	for what, text := range map[bridge.Ability]string{bridge.ToolContext: "CONTEXT-BEFORE", bridge.AfterContext: "CONTEXT-AFTER",
		bridge.StartContext: "CONTEXT-START", bridge.PromptContext: "CONTEXT-PROMPT", bridge.Feedback: "REASON-AFTER", bridge.KeepWorking: "REASON-STOP"} {
		s.sawIf(what, s.model.Told(text))
	}
	s.sawIf(bridge.Result, s.model.Told("RESULT-NEW") && !s.model.Told("42345"))
	s.sawIf(bridge.StopAfter, !s.ran("x-more"))

	denied := func(turn loopback.Turn, file string) {
		t.Helper()
		s := play("run it", turn, w.touch("after-"+file))
		s.want(file, false)
		s.want("after-"+file, false)
	}
	for _, file := range []string{"x-deny", "x-rule", "x-crash-block", "x-timeout-block", "x-project", "x-ask", "x-defer", "x-stop"} {
		denied(w.touch(file), file)
	}
	w.saw(bridge.Deny, bridge.Done)
	w.saw(bridge.Ask, bridge.Denied)
	w.saw(bridge.Defer, bridge.Denied)
	w.saw(bridge.StopAtTool, bridge.Denied)
	for _, what := range []string{triedRule, triedCrash, triedTimeout, triedProject, triedKilled} {
		w.showed(what)
	}
	denied(loopback.Turn{Calls: []loopback.Call{w.writeCall("x.locked")}}, "w/x.locked")
	w.showed(triedFiles)
	denied(tool(mcpNames["cline"], map[string]any{"path": w.dir + "/x-mcp"}), "x-mcp")
	w.saw(bridge.MCPTools, bridge.Done)
	w.showed(triedMCP)

	w.prompt("MAINTASK go", loopback.Conversation{Match: "MAINTASK", Turns: []loopback.Turn{subagents["cline"]("SUBTASK go"), {Text: "all done"}}},
		loopback.Conversation{Match: "SUBTASK", Turns: []loopback.Turn{w.touch("1-who"), w.touch("x-deny"), {Text: "sub done"}}}).want("x-deny", false)
	if told := string(read(t, w.dir+"/who")); !strings.Contains(told, `"agent_id"`) {
		t.Errorf("a hook was told of a subagent's call: %s", told)
	}
	w.saw(bridge.Subagents, bridge.Done)

	denied(loopback.Turn{Calls: append(w.touch("x-drop").Calls, w.touch("x-gone").Calls...)}, "x-gone")
	s.want("bin/moved", true)
	w.saw(bridge.FailsClosed, bridge.Done)
	w.showed(triedGone)
	w.restoreBridge()
	path := []string{"PATH=" + filepath.Dir(clientOf("cline")) + ":" + os.Getenv("PATH")}
	if out, err := w.runWith(path, "tenterhook", "agents", "verify", "cline", "--live", "--json"); err != nil || !strings.Contains(out, `"denied": true`) {
		t.Errorf("verify --live: %v\n%s", err, out)
	}
	w.wantUninstalled(before)
	if out, err := w.runWith(path, "tenterhook", "agents", "verify", "cline", "--live", "--json"); err == nil || !strings.Contains(out, `"ran": true`) {
		t.Errorf("verify --live without entries: %v\n%s", err, out)
	}
}
