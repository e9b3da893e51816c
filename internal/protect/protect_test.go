package protect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/protect"
)

func TestAnAgentCannotDisarmItsGuards(t *testing.T) {
	home := filepath.ToSlash(t.TempDir()) // as lines of a shell have it
	dirs := protect.Dirs{Home: home, Config: home + "/.config/tenterhook", Data: home + "/.local/share/tenterhook",
		State: home + "/.local/state/tenterhook"}
	p := protect.New([]string{"/run/user/1/tenterhook"}, nil, dirs)
	settings := home + "/.claude/settings.json"
	ask := func(tool string, input map[string]any) hook.Verdict {
		t.Helper()
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Guard().Handler.Handle(t.Context(), &hook.Call{ProjectDir: home + "/code", Dir: home + "/code",
			Input: hook.PreToolUse{ToolName: tool, ToolInput: raw}})
		if err != nil {
			t.Fatal(err)
		}
		if out == nil {
			return hook.NoOpinion
		}
		return out.Verdict
	}
	bash := func(line string) hook.Verdict { t.Helper(); return ask("Bash", map[string]any{"command": line}) }
	if got := bash("rm -rf " + dirs.Config); got != hook.NoOpinion || p.Active() {
		t.Fatalf("without an installation: %v, active %v", got, p.Active())
	}
	receipt, _ := json.Marshal(map[string]any{"agent": "claude", "program": "/opt/th/tenterhook-bridge",
		"files": []map[string]any{{"path": settings}}})
	for path, text := range map[string][]byte{
		filepath.Join(dirs.State, "agents", "claude-user.json"): receipt,
		filepath.Join(dirs.Config, "hooks", "g", "HOOK.md"):     nil,
		settings:                               []byte("{}"),
		filepath.Join(home, "work", "main.go"): nil,
		home + "/code/evil.sh":                 []byte("#!/bin/bash\nset -e\necho hello\nif true; then\n  rm -rf \"$HOME/.config/tenterhook\"\nfi\n"),
		home + "/code/1.sh":                    []byte("tenterhook daemon stop\n"),
		home + "/code/a=b.sh":                  []byte("tenterhook daemon stop\n"),
		home + "/code/startup.sh":              []byte("echo 'true\nclaude() { :; }' >> ~/.bashrc\n"),
		home + "/code/outer.sh":                []byte("#!/bin/sh\n./evil.sh\n"),
		home + "/code/package.json":            []byte(`{"scripts": {"build": "tsc -p .", "lint": "cat ~/.claude/settings.json", "evil": "tsc && tenterhook daemon stop", "preouter": "./evil.sh", "outer": "true"}}`),
		home + "/code/pkg/package.json":        []byte(`{"scripts": {"test": "sed -i s/tenterhook/x/ ~/.claude/settings.json"}}`),
		home + "/code/stop.sh":                 []byte("#!/bin/sh\ntenterhook daemon stop\n"),
		home + "/code/good.sh": []byte("#!/bin/sh\n# tenterhook guards this: see ~/.config/tenterhook\ngo build ./... && cat ~/.config/tenterhook/settings.toml\n" +
			"for f in $(git ls-files); do [ -n \"$f\" ] && eval \"$CHECK\"; done\ntenterhook() { :; }\n\"$@\" list\n"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for tool, input := range map[string]map[string]any{
		"Write": {"file_path": home + "/.bashrc", "content": "true\nclaude() { :; }\n"},
		"Edit":  {"file_path": home + "/.zshrc", "old_string": "", "new_string": "x\n\tcodex () { :; }\n"},
	} {
		if got := ask(tool, input); got != hook.Deny {
			t.Errorf("%s of a startup file: %v, want deny", tool, got)
		}
	}
	for _, line := range []string{
		"rm -rf " + dirs.Config, "rm -rf ~/.config/tenterhook/hooks/g", "cd ~/.config && rm -rf tenterhook", "rm -rf ~/.config", "rm -rf ~",
		"mv ~/.config/tenterhook/hooks /tmp/x", "ln -sf /dev/null " + settings, "echo '{}' > ~/.claude/settings.json",
		"sed -i s/tenterhook/x/ ~/.claude/settings.json", "tee ~/.claude/settings.json < /dev/null", "cp /dev/null ~/.claude/settings.json",
		"python3 -c \"open('" + settings + "','w').write('{}')\"", "truncate -s 0 " + settings, "cp /bin/true /opt/th/tenterhook",
		"mv /opt/th/tenterhook-bridge /tmp", "chmod -x /opt/th/tenterhook-bridge", "rm -rf .tenterhook/hooks",
		"find ~/.config/tenterhook -delete", "rm ~/.local/state/tenterhook/run/daemon.sock", "perl -e 'unlink \"" + settings + "\"'",
		"tenterhook disable user/guard", "tenterhook test --update", "tenterhook test user/guard --record=x", "tenterhook trust --all --yes", "tenterhook uninstall claude --yes", "tenterhook daemon stop",
		"/opt/th/tenterhook daemon stop", "env X=1 tenterhook install", "sh -c 'tenterhook uninstall --yes'", "nohup setsid tenterhook remove x",
		"pkill -9 tenterhook", "killall tenterhook", "pkill -f 'tenterhook daemon'", "true; tenterhook disable x",
		"kill -9 $(pgrep -f 'tenterhook daemon')", "kill `pidof tenterhook`", "pgrep tenterhook | xargs kill -9", "P=$(pgrep -f tenterhook); kill $P",
		"kill -TERM $(tenterhook daemon status --json | jq .pid)",
	} {
		if got := bash(line); got != hook.Deny {
			t.Errorf("%s: %v, want deny", line, got)
		}
	}
	for _, tool := range []string{"Write", "Edit", "mcp__fs__write_file"} {
		for _, path := range []string{settings, dirs.Config + "/hooks/g/HOOK.md", "/opt/th/tenterhook", home + "/code/.tenterhook/settings.toml"} {
			if tool == "mcp__fs__write_file" && path == home+"/code/.tenterhook/settings.toml" {
				continue // a tool of unknown keys: files are known by their full names
			}
			if got := ask(tool, map[string]any{"file_path": path, "path": path, "content": "x"}); got != hook.Deny {
				t.Errorf("%s %s: %v, want deny", tool, path, got)
			}
		}
	}
	for _, line := range []string{
		"ls", "cat ~/.claude/settings.json", "ls -R ~/.config/tenterhook", "rm -rf build", "git commit -am 'tenterhook trust'", "echo x > out.txt",
		"tenterhook list", "tenterhook why PreToolUse --tool Bash", "tenterhook run PreToolUse", "tenterhook daemon status", "npm test && go vet ./...",
		"cp main.go ~/", "rm $FILE", "grep -r tenterhook .", "for f in *; do echo $f; done", "python3 script.py", "make -j4 all",
		"kill 123", "kill -9 $(pgrep node)", "cd ~/src/tenterhook && kill 123", "kill %1; ls ~/.config/tenterhook",
	} {
		if got := bash(line); got != hook.NoOpinion {
			t.Errorf("%s: %v, want no objection", line, got)
		}
	}
	for file, want := range map[string]hook.Verdict{"denied.txt": hook.Deny, "allowed.txt": hook.NoOpinion} {
		lines, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(lines)) {
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n")
			if got := bash(line); got != want {
				t.Errorf("%s: %s: %v", file, line, got)
			}
		}
	}
	for _, input := range []map[string]any{
		{"command": "cd ~/.config && rm -rf tenterhook"}, {"cmd": "tenterhook daemon stop"}, {"command": "rm", "args": []string{"-rf", dirs.Config}},
		{"steps": []any{map[string]any{"script": "ls\npkill tenterhook"}}}, {"argv": []string{"sh", "-c", "tenterhook disable user/g"}},
	} {
		if got := ask("mcp__shell__run", input); got != hook.Deny {
			t.Errorf("a tool that runs %v: %v, want deny", input, got)
		}
	}
	for _, input := range []map[string]any{
		{"command": "ls -la ~/.config && tenterhook list"}, {"query": "how does tenterhook disable work?"}, {"text": "run tenterhook daemon stop"}, {"args": []string{"a", "b"}},
	} {
		if got := ask("mcp__shell__run", input); got != hook.NoOpinion {
			t.Errorf("a tool with %v: %v, want no objection", input, got)
		}
	}
	for path, text := range map[string]string{
		".claude/settings.local.json": `{"disableAllHooks": true}`, ".qwen/settings.json": `{"disableAllHooks": true}`, ".codex/config.toml": "[features]\nhooks = false\n",
		".gemini/settings.json": `{"hooksConfig": {"enabled": false}}`, ".github/copilot/settings.json": `{"disableAllHooks": true}`,
		".claude/settings.json": `{"env": {"HTTP_PROXY": "http://127.0.0.1:9"}}`,
	} {
		for tool, key := range map[string]string{"Write": "content", "Edit": "new_string"} {
			if got := ask(tool, map[string]any{"file_path": home + "/code/" + path, key: text}); got != hook.Deny {
				t.Errorf("%s of %s: %v, want deny", tool, path, got)
			}
		}
		if got := ask("Write", map[string]any{"file_path": home + "/code/" + path, "content": `{"model": "x"}`}); got != hook.NoOpinion {
			t.Errorf("a harmless %s: %v", path, got)
		}
		if got := ask("Write", map[string]any{"file_path": home + "/code/docs.md", "content": text}); got != hook.NoOpinion {
			t.Errorf("a text about %s: %v", path, got)
		}
	}
	for path, want := range map[string]hook.Verdict{
		home + "/.local/bin/claude": hook.Deny, home + "/bin/tenterhook": hook.Deny, home + "/.local/bin/other": hook.NoOpinion,
		home + "/.config/systemd/user/x.service": hook.Deny, "/etc/cron.d/x": hook.Deny, home + "/code/x.service": hook.NoOpinion,
	} {
		if got := ask("Write", map[string]any{"file_path": path, "content": "x"}); got != want {
			t.Errorf("Write %s: %v, want %v", path, got, want)
		}
	}
	if got := ask("Read", map[string]any{"file_path": settings}); got != hook.NoOpinion {
		t.Errorf("Read: %v", got)
	}
	if got := ask("Write", map[string]any{"file_path": home + "/code/main.go", "content": "see ~/.claude/settings.json"}); got != hook.NoOpinion {
		t.Errorf("Write: %v", got)
	}
}
