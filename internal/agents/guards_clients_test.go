package agents

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/internal/agents/loopback"
	programs "github.com/tenterhook/tenterhook/internal/built"
)

const ruleHook = `event = "PreToolUse"
type = "rule"
if = "Bash(touch *-rule)"
decision = "deny"
reason = "REASON-RULE"
`

// killDaemon ends the daemon that runs the hook, once.
const killDaemon = `grep -q x-kill || exit 0 # lines that cannot be read match every "if"
[ -e @D@/killed ] && exit 0
touch @D@/killed
kill -9 $(@D@/bin/tenterhook daemon status --json | sed -n 's/^ *"pid": *\([0-9]*\).*/\1/p')
sleep 5`

// subagents are calls that start a subagent on a prompt.
var subagents = map[string]func(prompt string) loopback.Turn{
	"claude": func(p string) loopback.Turn {
		return tool("Agent", map[string]any{"description": "sub", "prompt": p, "subagent_type": "general-purpose", "run_in_background": false})
	},
	"codex": func(p string) loopback.Turn {
		return tool("multi_agent_v1@@spawn_agent", map[string]any{"message": p})
	},
	"gemini": func(p string) loopback.Turn {
		return tool("invoke_agent", map[string]any{"agent_name": "generalist", "prompt": p})
	},
	"qwen": func(p string) loopback.Turn {
		return tool("agent", map[string]any{"description": "sub", "prompt": p, "subagent_type": "general-purpose"})
	},
	"opencode": func(p string) loopback.Turn {
		return tool("task", map[string]any{"description": "sub", "prompt": p, "subagent_type": "general"})
	},
	"cline": func(p string) loopback.Turn {
		return tool("spawn_agent", map[string]any{"systemPrompt": "You help.", "task": p})
	},
	"copilot": func(p string) loopback.Turn {
		return tool("task", map[string]any{"description": "sub", "prompt": p, "agent_type": "general-purpose", "name": "sub"})
	},
}

// entryFile is the agent's file that holds our entries.
func (w *world) entryFile() string {
	return w.home + "/" + map[string]string{"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/extensions/tenterhook/hooks/hooks.json",
		"copilot": ".copilot/hooks/tenterhook.json", "qwen": ".qwen/settings.json", "opencode": ".config/opencode/plugin/tenterhook.js", "pi": ".pi/agent/extensions/tenterhook.ts"}[w.agent]
}

// editCalls are calls of the client's own tools that write a file.
func (w *world) editCalls(path string) []loopback.Call {
	calls := map[string][]loopback.Call{
		"claude": {{Name: "Write", Input: map[string]any{"file_path": path, "content": "{}"}},
			{Name: "Edit", Input: map[string]any{"file_path": path, "old_string": "tenterhook", "new_string": "x"}}},
		"gemini": {{Name: "write_file", Input: map[string]any{"file_path": path, "content": "{}"}},
			{Name: "replace", Input: map[string]any{"file_path": path, "old_string": "tenterhook", "new_string": "x", "instruction": "x", "allow_multiple": true}}},
		"copilot": {{Name: "edit", Input: map[string]any{"path": path, "old_str": "tenterhook", "new_str": "x"}}},
		"qwen": {{Name: "write_file", Input: map[string]any{"file_path": path, "content": "{}"}},
			{Name: "edit", Input: map[string]any{"file_path": path, "old_string": "tenterhook", "new_string": "x", "replace_all": true}}},
		"opencode": {{Name: "write", Input: map[string]any{"filePath": path, "content": "{}"}},
			{Name: "edit", Input: map[string]any{"filePath": path, "oldString": "tenterhook", "newString": "x", "replaceAll": true}}},
		"pi": {{Name: "write", Input: map[string]any{"path": path, "content": "{}"}},
			{Name: "edit", Input: map[string]any{"path": path, "oldText": "tenterhook", "newText": "x"}}},
		"codex": {clients["codex"].shell("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: " + path + "\n*** End Patch\nEOF")},
	}
	return calls[w.agent]
}

// disarming are commands with which an agent could end its guards.
func (w *world) disarming() []string {
	config, entries := w.home+"/.config/tenterhook", w.entryFile()
	rule, command, bridge := config+"/hooks/rule/HOOK.md", w.bin+"/tenterhook", w.bin+"/tenterhook-bridge"
	return []string{
		"rm -rf " + config + "/hooks",
		"cd " + config + " && rm -rf hooks",
		"mv " + config + "/hooks " + w.dir + "/elsewhere",
		"mv " + w.home + "/.config " + w.dir + "/elsewhere",
		"ln -sfn /dev/null " + rule,
		"echo x | tee " + rule,
		"sed -i s/deny/allow/ " + rule,
		": > ~/.config/tenterhook/hooks/rule/HOOK.md",
		"python3 -c \"import shutil; shutil.rmtree('" + config + "/hooks')\"",
		"sed -i s/tenterhook/x/ " + entries,
		"python3 -c \"open('" + entries + "', 'w')\"",
		"cp /bin/true " + bridge,
		"rm " + command,
		command + " trust --all --yes",
		"PATH=" + w.bin + ":$PATH tenterhook uninstall " + w.agent + " --yes",
		command + " daemon stop",
		"pkill -9 tenterhook",
		"kill -9 $(pgrep -f 'tenterhook daemon')",
	}
}

// guarding is what an agent must not change: the user's hooks, the entries and
// the programs.
func (w *world) guarding() map[string]string {
	found := snapshot(w.t, w.home+"/.config/tenterhook")
	for _, path := range []string{w.entryFile(), w.bin + "/tenterhook-bridge", w.bin + "/tenterhook"} {
		found[path] = digest(read(w.t, path))
	}
	return found
}

// restoreBridge puts the bridge back that a hook moved.
func (w *world) restoreBridge() {
	w.t.Helper()
	if err := os.Rename(w.bin+"/moved", w.bin+"/tenterhook-bridge"); err != nil {
		w.t.Fatal(err)
	}
}

func TestClientCannotDisarmItsGuards(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	eachClient(t, func(t *testing.T, w *world) {
		w.hook("rule", ruleHook, "")
		w.hook("subagent", onTouch("sub"), "echo REASON-SUB >&2; exit 2")
		w.hook("killer", onTouch("kill")+"timeout = 30\n", killDaemon)
		w.hook("who", onTouch("who"), "grep -q -e -who || exit 0; echo $PPID >> @D@/daemons") // which process runs it
		w.hook("upgrade", onTouch("upgrade"), "grep -q x-upgrade || exit 0; cp @D@/bin/tenterhook @D@/bin/next && mv @D@/bin/next @D@/bin/tenterhook")
		w.hook("drop", onTouch("drop"), "grep -q x-drop || exit 0; mv @D@/bin/tenterhook-bridge @D@/bin/moved")
		w.install()
		before := w.guarding()

		shell := clients[w.agent].shell
		attempts := w.touch("1-who", "x-rule")
		for i, command := range w.disarming() {
			attempts.Calls = append(attempts.Calls, shell(fmt.Sprintf("%s; touch %s/done-%d", command, w.dir, i)))
		}
		attempts.Calls = append(attempts.Calls, w.editCalls(w.entryFile())...)
		turns := []loopback.Turn{attempts, w.touch("x-kill"), w.touch("y-rule", "2-who"), w.touch("x-upgrade"), w.touch("z-rule", "3-who"), w.touch("x-free"),
			w.touch("x-drop"), w.touch("x-gone"), {Text: "all done"}}
		if start, ok := subagents[w.agent]; ok {
			turns = append([]loopback.Turn{start("SUBTASK go")}, turns...)
		}
		s := w.prompt("MAINTASK", loopback.Conversation{Match: "MAINTASK", Turns: turns},
			loopback.Conversation{Match: "SUBTASK", Turns: []loopback.Turn{w.touch("x-sub"), {Text: "sub done"}}})

		s.want("x-free", true)
		s.want("x-rule", false, "REASON-RULE")
		if _, ok := subagents[w.agent]; ok {
			s.want("x-sub", false, "REASON-SUB")
			s.saw(bridge.Subagents, bridge.Done)
		}
		daemons := strings.Fields(string(read(t, w.dir+"/daemons")))
		if slices.Sort(daemons); len(slices.Compact(daemons)) != 3 {
			t.Errorf("these ran the hooks: %v, want three daemons, one after the other", daemons)
		}
		s.want("killed", true)
		s.want("y-rule", false)
		s.showed(triedKilled)
		s.want("x-upgrade", true)
		s.want("z-rule", false)
		s.showed(triedNewer)
		s.want("x-drop", true)
		s.want("bin/moved", true)
		s.want("x-gone", false)
		s.saw(bridge.FailsClosed, bridge.Done)
		s.showed(triedGone)
		w.restoreBridge()
		for i, command := range w.disarming() {
			if s.ran(fmt.Sprintf("done-%d", i)) {
				t.Errorf("it ran: %s", command)
			}
		}
		for path, text := range w.guarding() {
			if before[path] != text {
				t.Errorf("%s was changed", path)
			}
			delete(before, path)
		}
		if len(before) > 0 {
			t.Errorf("files are gone: %v", before)
		}
		last := ""
		for _, request := range s.model.Requests() {
			if strings.Contains(request, "MAINTASK") {
				last = request
			}
		}
		if told := strings.Count(last, "must not change its own guards"); told < len(w.disarming()) {
			t.Errorf("the model was told of %d denials of %d", told, len(w.disarming()))
		}
		w.showed(triedDisarm)
	})
}
