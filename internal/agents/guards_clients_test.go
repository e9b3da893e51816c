package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenterhook/tenterhook/internal/agents/loopback"
)

const ruleHook = `event = "PreToolUse"
type = "rule"
if = "Bash(touch *-rule)"
decision = "deny"
reason = "REASON-RULE"
`

// killDaemon ends the daemon that runs the hook, once.
const killDaemon = `[ -e @D@/killed ] && exit 0
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
	"copilot": func(p string) loopback.Turn {
		return tool("task", map[string]any{"description": "sub", "prompt": p, "agent_type": "general-purpose", "name": "sub"})
	},
}

// entryFile is the agent's file that holds our entries.
func (w *world) entryFile() string {
	return w.home + "/" + map[string]string{"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/extensions/tenterhook/hooks/hooks.json",
		"copilot": ".copilot/hooks/tenterhook.json", "qwen": ".qwen/settings.json"}[w.agent]
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

func TestClientCannotDisarmItsGuards(t *testing.T) {
	eachClient(t, func(t *testing.T, w *world) {
		w.hook("rule", ruleHook, "")
		w.hook("subagent", onTouch("sub"), "echo REASON-SUB >&2; exit 2")
		w.hook("killer", onTouch("kill")+"timeout = 30\n", killDaemon)
		w.install()
		before := w.guarding()

		shell := clients[w.agent].shell
		var attempts loopback.Turn
		for i, command := range w.disarming() {
			attempts.Calls = append(attempts.Calls, shell(fmt.Sprintf("%s; touch %s/done-%d", command, w.dir, i)))
		}
		attempts.Calls = append(attempts.Calls, w.editCalls(w.entryFile())...)
		s := w.prompt("MAINTASK",
			loopback.Conversation{Match: "MAINTASK", Turns: []loopback.Turn{
				subagents[w.agent]("SUBTASK go"), w.touch("x-rule"), attempts, w.touch("x-kill"), w.touch("y-rule"), w.touch("x-free"), {Text: "all done"}}},
			loopback.Conversation{Match: "SUBTASK", Turns: []loopback.Turn{w.touch("x-sub"), {Text: "sub done"}}})

		s.want("x-free", true)
		s.want("x-rule", false, "REASON-RULE")
		s.want("x-sub", false, "REASON-SUB")
		s.want("killed", true)
		s.want("y-rule", false)
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
	})
}

func TestTwoAgentsInOneWorkspaceAreToldApartAndVerified(t *testing.T) {
	first := newWorld(t, "claude")
	second := *newWorld(t, "codex")
	second.dir, second.home, second.workspace, second.bin = first.dir, first.home, first.workspace, first.bin
	second.more = []string{"-c", `mcp_servers.probe={command="` + first.bin + `/probe-mcp"}`}
	first.hook("agent", onTouch("deny"), `sed -n 's/.*"agent": *"\([a-z]*\)".*/REASON-\1/p' >&2; exit 2`)
	first.install()
	second.install()
	sessions := make([]*session, 2)
	var both sync.WaitGroup
	for i, w := range []*world{first, &second} {
		both.Go(func() {
			sessions[i] = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{
				w.touch(w.agent + "-deny"), w.touch(w.agent + "-free"), w.touch(w.agent + "2-deny"), {Text: "all done"}}})
		})
	}
	both.Wait()
	for i, s := range sessions {
		s.want(s.agent+"-free", true, "REASON-"+s.agent)
		s.want(s.agent+"-deny", false)
		s.want(s.agent+"2-deny", false)
		if other := sessions[1-i].agent; s.model.Told("REASON-" + other) {
			t.Errorf("%s was told what %s was told", s.agent, other)
		}
	}

	path := []string{"PATH=" + strings.Join([]string{filepath.Join(clientsDir(), "claude/node_modules/.bin"), filepath.Join(clientsDir(), "codex/node_modules/.bin"), os.Getenv("PATH")}, ":")}
	out, err := first.runWith(path, "tenterhook", "agents", "verify", "claude", "codex", "--live", "--json")
	if err != nil || strings.Count(out, `"denied": true`) != 2 {
		t.Errorf("verify --live: %v\n%s", err, out)
	}
	if out, err := first.runWith(path, "tenterhook", "uninstall", "claude", "--yes"); err != nil {
		t.Fatalf("uninstall: %v\n%s", err, out)
	}
	out, err = first.runWith(path, "tenterhook", "agents", "verify", "claude", "--live", "--json")
	if err == nil || !strings.Contains(out, `"ran": true`) {
		t.Errorf("verify --live without entries: %v\n%s", err, out)
	}
}
