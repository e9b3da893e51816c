package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/internal/agents/loopback"
	programs "github.com/tenterhook/tenterhook/internal/built"
)

// count is how many lines a hook has written to a file.
func (w *world) count(file string) int {
	data, _ := os.ReadFile(w.dir + "/" + file) // none if it never ran
	return strings.Count(string(data), "\n")
}

// hooksOfAFolder are hooks of every kind, for the whole session.
func (w *world) hooksOfAFolder() {
	w.hook("deny", onTouch("deny"), "echo REASON-DENY >&2; exit 2")
	w.hook("rule", ruleHook, "")
	w.hook("crash-block", onTouch("crash-block")+"on_failure = \"block\"\n", "kill -9 $$")
	w.hook("crash-continue", onTouch("crash-continue"), "kill -9 $$")
	w.hook("timeout-block", onTouch("timeout-block")+"on_failure = \"block\"\ntimeout = 1\n", "exec sleep 30")
	w.hook("timeout-continue", onTouch("timeout-continue")+"timeout = 1\n", "exec sleep 30")
	w.hook("ask", onTouch("ask"), specificAnswer(`"permissionDecision":"ask","permissionDecisionReason":"REASON-ASK"`))
	w.hook("defer", onTouch("defer"), specificAnswer(`"permissionDecision":"defer","permissionDecisionReason":"REASON-DEFER"`))
	w.hook("rewrite", onTouch("rewrite"), specificAnswer(`"updatedInput":{"command":"touch @D@/rewritten","description":"x"}`))
	w.hook("context", onTouch("context"), specificAnswer(`"additionalContext":"CONTEXT-BEFORE"`))
	w.hook("breaker", onTouch("broken")+"on_failure = \"block\"\n[breaker]\nfailures = 2\n", "")
	write(w.t, w.home+"/.config/tenterhook/hooks/breaker/HOOK.md", []byte("+++\n"+onTouch("broken")+
		"on_failure = \"block\"\ncommand = \"echo x >> "+w.dir+"/breaker-runs; exit 1\"\n[breaker]\nfailures = 2\n+++\n"))
	w.hook("once", before+"once = true\n", "echo x >> @D@/once-runs")
	w.hook("after", "event = \"PostToolUse\"\nmatcher = \"Bash\"\n", `case "$(cat)" in
*x-context*) echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"CONTEXT-AFTER"}}' ;;
*say-feedback*) echo REASON-AFTER >&2; exit 2 ;;
*"printf 423; printf 45"*) echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":`+
		map[bool]string{true: `{"stdout":"RESULT-NEW","stderr":"","interrupted":false,"isImage":false}`, false: `"RESULT-NEW"`}[w.agent == "claude"]+`}}' ;;
esac`)
	w.hook("start", "event = \"SessionStart\"\n", "echo CONTEXT-START")
	w.hook("prompt", "event = \"UserPromptSubmit\"\n", `echo '{"systemMessage":"MESSAGE-SHOWN","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"CONTEXT-PROMPT"}}'`)
	w.hook("mcp", "event = \"PreToolUse\"\nmatcher = \"mcp__probe__mark\"\n", "echo REASON-MCP >&2; exit 2")
	w.hook("write", "event = \"PreToolUse\"\nmatcher = \"Write\"\nif = \"Write(*.locked)\"\n", "echo REASON-WRITE >&2; exit 2")
	w.hook("stop", "event = \"Stop\"\n", map[bool]string{false: "[ -e @D@/stops ] && exit 0; "}[w.unbounded()]+"echo x >> @D@/stops; echo REASON-STOP >&2; exit 2")
	w.hookIn(w.workspace+"/.tenterhook/hooks", "unapproved", onTouch("project")+"on_failure = \"block\"\n", "exit 0")
}

// unbounded reports whether the client itself lets hooks keep it working for ever.
func (w *world) unbounded() bool { return w.agent == "codex" || w.agent == "gemini" }

func TestClientObeysTheHooksOfAFolder(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	eachClient(t, func(t *testing.T, w *world) {
		w.hooksOfAFolder()
		w.install()
		can := func(what bridge.Ability) bridge.Level { return agent(t, w.agent).Can(what).Level }
		files := w.touch("x-crash-block", "x-crash-continue", "x-timeout-block", "x-timeout-continue", "x-project", "1-broken")
		files.Calls = append(files.Calls, w.writeCall("x.locked"), w.writeCall("x.open"))
		if name, ok := mcpNames[w.agent]; ok {
			files.Calls = append(files.Calls, loopback.Call{Name: name, Input: map[string]any{"path": w.dir + "/x-mcp"}})
		}
		turns := []loopback.Turn{w.touch("x-ask"), files, w.touch("x-context", "2-broken"), w.touch("x-deny", "x-rule", "3-broken"),
			w.line("echo say-feedback"), w.line("printf 423; printf 45"), w.touch("x-rewrite"), w.touch("x-free")}
		if can(bridge.Defer) == bridge.Stricter { // else it ends the run
			turns = append(turns, w.touch("x-defer"))
		}
		s := w.prompt("run it", loopback.Conversation{Turns: append(turns, loopback.Turn{Text: "all done"})})

		s.want("x-free", true)
		s.want("x-deny", false, "REASON-DENY")
		s.saw(bridge.Deny, bridge.Done)
		s.want("x-rule", false, "REASON-RULE")
		s.showed(triedRule)
		s.want("x-crash-block", false, "crash-block")
		s.want("x-crash-continue", true)
		s.showed(triedCrash)
		s.want("x-timeout-block", false, "timeout-block")
		s.want("x-timeout-continue", true)
		s.showed(triedTimeout)
		s.want("x-project", false, "unapproved")
		s.showed(triedProject)
		s.want("w/x.locked", false, "REASON-WRITE")
		s.want("w/x.open", w.agent != "codex") // whose shell has no apply_patch for a patch in an argument
		s.showed(triedFiles)
		if _, ok := mcpNames[w.agent]; ok {
			s.want("x-mcp", false, "REASON-MCP")
			s.saw(bridge.MCPTools, bridge.Done)
			s.showed(triedMCP)
		}
		if runs, once := s.count("breaker-runs"), s.count("once-runs"); runs != 2 || once != 1 {
			t.Errorf("the failing hook ran %d times, want 2; that with once %d times", runs, once)
		}
		s.want("3-broken", false, "breaker")
		s.showed(triedBreaker)

		s.want("x-ask", false, "REASON-ASK")
		s.saw(bridge.Ask, s.deniedOr("A person has to approve this, and "))
		if can(bridge.Defer) == bridge.Stricter {
			s.want("x-defer", false, "REASON-DEFER")
			s.saw(bridge.Defer, s.deniedOr("This has to wait for a decision, and "))
		}
		s.want("x-rewrite", false)
		if s.ran("rewritten") {
			s.saw(bridge.Rewrite, bridge.Done)
		} else {
			s.want("rewritten", false, "touch "+w.dir+"/rewritten")
			s.saw(bridge.Rewrite, bridge.Denied)
		}
		s.want("x-context", true)
		for what, text := range map[bridge.Ability]string{bridge.ToolContext: "CONTEXT-BEFORE", bridge.AfterContext: "CONTEXT-AFTER",
			bridge.StartContext: "CONTEXT-START", bridge.PromptContext: "CONTEXT-PROMPT", bridge.Feedback: "REASON-AFTER", bridge.KeepWorking: "REASON-STOP"} {
			s.sawIf(what, s.model.Told(text))
		}
		s.sawIf(bridge.Result, s.model.Told("RESULT-NEW") && !s.model.Told("42345"))
		if strings.Contains(s.out, "MESSAGE-SHOWN") { // without a person few clients show it
			s.saw(bridge.Messages, bridge.Done)
		}
		if w.unbounded() {
			if stops := s.count("stops"); stops < 2 || stops > 12 || s.err != nil {
				t.Errorf("it was asked to keep working %d times, and ended with %v", stops, s.err)
			}
			s.showed(triedBounded)
		}
	})
}

// deniedOr tells a denial in the place of something that the agent cannot do,
// of which the model got word, from the agent's own way of doing it.
func (s *session) deniedOr(instead string) bridge.Seen {
	if s.model.Told(instead) {
		return bridge.Denied
	}
	return bridge.Done
}

func TestClientIsStopped(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	eachClient(t, func(t *testing.T, w *world) {
		before := snapshot(t, w.home)
		w.hook("prompt", "event = \"UserPromptSubmit\"\n", "grep -q SECRETWORD && { echo REASON-PROMPT >&2; exit 2; }; exit 0")
		w.hook("allow", onTouch("allow"), specificAnswer(`"permissionDecision":"allow"`))
		w.hook("defer", onTouch("defer"), specificAnswer(`"permissionDecision":"defer"`))
		w.hook("stopper", onTouch("stop"), `echo '{"continue":false,"stopReason":"REASON-STOP"}'`)
		w.install()
		s := w.prompt("run SECRETWORD", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-blocked"), {Text: "all done"}}})
		if s.ran("x-blocked") || s.model.Told("SECRETWORD") {
			t.Errorf("the prompt was sent\n%s", s.out)
		}
		s.saw(bridge.BlockPrompt, bridge.Done)

		if asking := permitting[w.agent]; asking != nil { // the hook's word is all that lets the call run
			w.without = asking
			s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-unasked"), w.touch("x-allow"), w.touch("x-stop"), w.touch("x-more")}})
			s.want("x-unasked", false)
			s.sawIf(bridge.Allow, s.ran("x-allow"))
			w.without = nil
		} else {
			s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-free"), w.touch("x-stop"), w.touch("x-more")}})
			s.want("x-free", true)
		}
		s.want("x-stop", false)
		stopped := bridge.Done
		if s.model.Told("REASON-STOP") { // the model continues
			stopped = bridge.Denied
		}
		s.saw(bridge.StopAtTool, stopped)
		if agent(t, w.agent).Can(bridge.Defer).Level == bridge.Yes {
			s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-defer"), w.touch("x-more")}})
			s.want("x-defer", false)
			s.want("x-more", false)
			s.saw(bridge.Defer, bridge.Done)
		}

		w.wantUninstalled(before)
	})
}

// wantUninstalled uninstalls, and compares the home directory with what was there
// before the installation.
func (w *world) wantUninstalled(before map[string]string) {
	w.t.Helper()
	if out, err := w.run("tenterhook", "uninstall", w.agent, "--yes"); err != nil {
		w.t.Fatalf("uninstall: %v\n%s", err, out)
	}
	after := snapshot(w.t, w.home)
	for path, text := range before {
		if after[path] != text && !strings.HasSuffix(path, "/config.json") { // Copilot writes its own
			w.t.Errorf("%s changed from\n%s\nto\n%s", path, text, after[path])
		}
	}
	for path, text := range after {
		if _, was := before[path]; !was && !strings.Contains(path, "/.local/") && strings.Contains(text, "tenterhook-bridge' ") {
			w.t.Errorf("%s is left", path)
		}
	}
	w.showed(triedUninstall)
}

// permitting are the arguments with which a client runs its tools unasked, of
// the clients in which a hook can allow a call.
var permitting = map[string][]string{
	"claude":  {"--allowedTools", "Bash,Write,Edit,Read,Agent,mcp__probe__mark"},
	"copilot": {"--allow-all-tools"},
}

func TestAllAgentsInOneWorkspaceAreToldApartAndVerified(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	t.Parallel()
	var here []*world
	for _, name := range all {
		if _, err := os.Stat(clientOf(name)); err != nil || name == "opencode" {
			continue // the other tests say what is not here; opencode may wait at its start for the packages that it fetches
		}
		if len(here) == 0 {
			here = append(here, newWorld(t, name))
		} else {
			here = append(here, here[0].beside(name))
		}
	}
	if len(here) < 2 {
		t.Skip("there are not two clients; Wine has none")
	}
	first := here[0]
	first.hook("agent", onTouch("deny"), `sed -n 's/.*"agent": *"\([a-z]*\)".*/REASON-\1/p' >&2; exit 2`)
	first.hook("end", "event = \"PostToolUse\"\nmatcher = \"Bash\"\n", `grep -q -e -end && echo '{"continue":false,"stopReason":"REASON-END"}'; exit 0`)
	sessions := make([]*session, len(here))
	var together sync.WaitGroup
	for _, w := range here {
		w.install()
	}
	for i, w := range here {
		together.Go(func() {
			sessions[i] = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{
				w.touch(w.agent+"-deny", w.agent+"-free"), w.touch(w.agent + "2-deny"), w.touch(w.agent + "-end"), w.touch(w.agent + "-more"), {Text: "all done"}}})
		})
	}
	together.Wait()
	for _, s := range sessions {
		s.want(s.agent+"-free", true, "REASON-"+s.agent)
		s.want(s.agent+"-deny", false)
		s.want(s.agent+"2-deny", false)
		s.want(s.agent+"-end", true)
		for _, other := range here {
			if other.agent != s.agent && s.model.Told("REASON-"+other.agent) {
				t.Errorf("%s was told what %s was told", s.agent, other.agent)
			}
		}
		s.sawIf(bridge.StopAfter, !s.ran(s.agent+"-more"))
		s.showed(triedTogether)
	}
	verifyLive(t, first)
}

// verifyLive has the real clients shown to obey, and one without its entries not
// to.
func verifyLive(t *testing.T, w *world) {
	names := []string{"claude", "codex"}
	var dirs []string
	for _, name := range names {
		if _, err := os.Stat(clientOf(name)); err != nil {
			t.Skipf("%s is not here", name)
		}
		dirs = append(dirs, filepath.Dir(clientOf(name)))
	}
	if _, err := os.Stat(clientOf("gemini")); err == nil { // with an account that asks for a login
		names, dirs = append(names, "gemini"), append(dirs, filepath.Dir(clientOf("gemini")))
		settings := w.home + "/.gemini/settings.json"
		text, err := os.ReadFile(settings)
		if err != nil {
			t.Fatal(err)
		}
		write(t, settings, bytes.Replace(text, []byte("gemini-api-key"), []byte("oauth-personal"), 1))
	}
	path := []string{"PATH=" + strings.Join(append(dirs, os.Getenv("PATH")), ":")}
	out, err := w.runWith(path, "tenterhook", append([]string{"agents", "verify", "--live", "--json"}, names...)...)
	if err != nil || strings.Count(out, `"denied": true`) != len(names) {
		t.Errorf("verify --live: %v\n%s", err, out)
	}
	if out, err := w.runWith(path, "tenterhook", "uninstall", "claude", "--yes"); err != nil {
		t.Fatalf("uninstall: %v\n%s", err, out)
	}
	out, err = w.runWith(path, "tenterhook", "agents", "verify", "claude", "--live", "--json")
	if err == nil || !strings.Contains(out, `"ran": true`) {
		t.Errorf("verify --live without entries: %v\n%s", err, out)
	}
}
