package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

// machine is a user's directories, with a project on a drive of its own, and the programs beside each other in a folder
// with a space.
type machine struct {
	t                          *testing.T
	bin, config, data, project string
	env                        []string
}

// The test's program is also a tenterhook that fails, under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "tenterhook.exe" {
		fmt.Println(`{"decision":"approve"}`)
		switch ends := os.Getenv("ENDS"); ends {
		case "hang":
			time.Sleep(time.Hour)
		case "panic":
			panic("it fails")
		default:
			code, _ := strconv.Atoi(ends)
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// otherDrive makes a folder on another drive than that of temporary files.
func otherDrive(t *testing.T) string {
	t.Helper()
	here := strings.ToUpper(filepath.VolumeName(t.TempDir()))
	for letter := 'D'; letter <= 'Z'; letter++ {
		root := string(letter) + `:\`
		for _, parent := range []string{root + "tmp", root} {
			if here == root[:2] {
				continue
			}
			if dir, err := os.MkdirTemp(parent, "tenterhook-"); err == nil {
				t.Cleanup(func() {
					if err := os.RemoveAll(dir); err != nil {
						t.Error(err)
					}
				})
				return dir
			}
		}
	}
	t.Skip("Windows: there is no other drive that files can be made on")
	return ""
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	home := filepath.Join(t.TempDir(), "Jörg Müller 日本")
	m := &machine{t: t, bin: filepath.Join(home, "Program Files"), config: filepath.Join(home, "config", "tenterhook"), data: filepath.Join(home, "data", "tenterhook"), project: filepath.Join(otherDrive(t), "wörk & ßpace")}
	for _, dir := range []string{m.bin, m.config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := built.Into(m.bin, "cmd/tenterhook", "cmd/tenterhook-bridge", "examples/plugins/guard"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(m.project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Dir(m.config), "XDG_DATA_HOME="+filepath.Dir(m.data),
		"XDG_STATE_HOME="+filepath.Join(home, "state"), "USERPROFILE="+home, "Path="+m.bin+";"+os.Getenv("PATH"))
	return m
}

// write writes a file of hooks, with the line ends of Windows in all that no sh reads.
func (m *machine) write(path, text string) {
	m.t.Helper()
	if filepath.Ext(path) != ".sh" {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// cmd has cmd.exe run a line in the project, and returns what it says.
func (m *machine) cmd(line, stdin string, code int) string {
	m.t.Helper()
	c := exec.Command("cmd.exe")
	c.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
	c.Dir, c.Env, c.Stdin = m.project, m.env, strings.NewReader(stdin)
	said, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		m.t.Errorf("%s: %v, want exit code %d:\n%s", line, err, code, said)
	}
	return string(said)
}

// says checks that a line ends with a code and says each text.
func (m *machine) says(line string, code int, texts ...string) {
	m.t.Helper()
	said := m.cmd(line, "", code)
	for _, text := range texts {
		if !strings.Contains(said, text) {
			m.t.Errorf("%s: does not say %q:\n%s", line, text, said)
		}
	}
}

func TestEachKindOfHookWorksFromCmd(t *testing.T) {
	m := newMachine(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"decision":"block","reason":"the server says no"}`))
	}))
	defer server.Close()
	const head = "+++\nevent = \"PreToolUse\"\n"
	m.write(filepath.Join(m.project, `.tenterhook\hooks\batch file\HOOK.md`), head+"command = '\"./run it.cmd\"'\n+++\n")
	m.write(filepath.Join(m.project, `.tenterhook\hooks\batch file\run it.cmd`), "@echo off\necho the batch file says no 1>&2\nexit /b 2\n")
	m.write(filepath.Join(m.config, "settings.toml"), "allowed_http_hook_urls = [\""+server.URL+"/*\"]\nallow_local_http_hook_targets = true\n")
	hooks := filepath.Join(m.config, "hooks")
	m.write(filepath.Join(hooks, `http\HOOK.md`), head+"type = \"http\"\nurl = \""+server.URL+"/\"\n+++\n")
	m.write(filepath.Join(hooks, `rule\HOOK.md`), head+"type = \"rule\"\nif = ['Edit(C:\\secret\\**)', \"Bash(git push *)\"]\ndecision = \"deny\"\nreason = \"the rule says no\"\n+++\n")
	m.write(filepath.Join(hooks, `worker\HOOK.md`), head+"command = \"./work.sh\"\nworker = true\n+++\n")
	m.write(filepath.Join(hooks, `worker\work.sh`), "while read -r call; do echo '{\"decision\":\"block\",\"reason\":\"the worker says no\"}'; done\n")

	const push = `tenterhook run PreToolUse --tool Bash --input "{\"command\":\"git.exe push\"}"`
	m.says("tenterhook list", 0, "untrusted", "project/batch file", "user/worker")
	m.says(`tenterhook trust --yes "project/batch file"`, 0, `approved project/batch file`, "reap")
	m.says("tenterhook check", 0, "nothing wrong")
	m.says(push, 2, "the batch file says no", "the worker says no", "the server says no", "the rule says no")
	m.says(`tenterhook why PreToolUse --tool Edit --input "{\"file_path\":\"c:/SECRET/a\"}"`, 0, "project/batch file", `Edit(C:\secret\**)`)
	m.says(`tenterhook disable "project/batch file"`, 0)
	m.says("tenterhook list", 0, "disabled")
}

func TestANewHookAndAPluginDecideForAnAgentFromCmd(t *testing.T) {
	m := newMachine(t)
	m.says("tenterhook new made --lang sh", 0, `hooks\made`, `--input "{\"command\":\"echo FORBIDDEN\"}"`)
	m.says(`tenterhook run PreToolUse --tool Bash --input "{\"command\":\"echo FORBIDDEN\"}"`, 2, "FORBIDDEN is not allowed")
	m.says("tenterhook new CON", 1, "a device on Windows")

	plugin, err := os.ReadFile(filepath.Join(m.bin, "guard.exe"))
	if err != nil {
		t.Fatal(err)
	}
	m.write(filepath.Join(m.data, `plugins\guard\plugin.toml`), "description = \"a guard\"\n")
	if err := os.WriteFile(filepath.Join(m.data, `plugins\guard\tenterhook-plugin-guard.exe`), plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	m.says("tenterhook trust --yes plugin/guard/guard", 0, "plugin/guard")
	for command, want := range map[string]string{"echo FORBIDDEN": "FORBIDDEN is not allowed", "git push --force": "force"} {
		event, _ := json.Marshal(map[string]any{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]string{"command": command}})
		if said := m.cmd("tenterhook-bridge claude PreToolUse", string(event), 2); !strings.Contains(said, want) {
			t.Errorf("%s: the bridge says %s", command, said)
		}
	}
}

func TestAgentsAreInstalledIntoFromCmd(t *testing.T) {
	m := newMachine(t)
	home := filepath.Dir(m.bin)
	claude, factory := filepath.Join(home, `.claude\settings.json`), filepath.Join(home, `.factory\settings.json`)
	const before = "{\r\n\t\"model\": \"x\"\r\n}"
	m.write(claude, strings.ReplaceAll(before, "\r", ""))
	m.write(filepath.Join(m.config, `hooks\rule\HOOK.md`), "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = [\"Bash(git push *)\"]\ndecision = \"deny\"\nreason = \"the rule says no\"\n+++\n")
	m.says("tenterhook install claude factory --yes", 0, "installed into Claude Code", "installed into Factory Droid")
	m.says("tenterhook install claude", 0, "is installed already")
	m.says("tenterhook agents verify", 0, "Claude Code: in effect")
	m.says("tenterhook install kiro", 1, "inside WSL")
	m.says("tenterhook install claude --transport http --yes", 1, "leave out --transport http")

	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	read := func(path, event string) (string, []string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &settings)
		}
		if err != nil || len(settings.Hooks[event]) != 1 {
			t.Fatalf("%v\n%s", err, data)
		}
		h := settings.Hooks[event][0].Hooks[0]
		return h.Command, h.Args
	}
	const payload = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%"}}`
	program, args := read(claude, "PreToolUse")
	if program != filepath.Join(m.bin, "tenterhook-bridge.exe") {
		t.Errorf("the entry starts %s", program)
	}
	for command, code := range map[string]int{"git push": 2, "ls": 0} {
		c := exec.Command(program, args...)
		c.Dir, c.Env, c.Stdin = m.project, m.env, strings.NewReader(strings.Replace(payload, "%", command, 1))
		said, err := c.CombinedOutput()
		if c.ProcessState == nil || c.ProcessState.ExitCode() != code || (code == 2) != strings.Contains(string(said), "the rule says no") {
			t.Errorf("%s: %v, want exit code %d:\n%s", command, err, code, said)
		}
	}
	line, _ := read(factory, "PreToolUse")
	if said := m.cmd(line, strings.Replace(payload, "%", "git push", 1), 2); !strings.Contains(said, "the rule says no") {
		t.Errorf("the line says %s", said)
	}
	if err := os.Rename(program, program+".moved"); err != nil {
		t.Fatal(err)
	}
	if said := m.cmd(line, payload, 2); !strings.Contains(said, "tenterhook could not decide") {
		t.Errorf("without the program the line says %s", said)
	}
	m.says("tenterhook agents verify claude", 1, "tenterhook-bridge.exe is not there")
	m.says("tenterhook uninstall --yes", 0, "uninstalled from Claude Code", "uninstalled from Factory Droid")
	if now, err := os.ReadFile(claude); err != nil || string(now) != before {
		t.Errorf("after uninstall: %q, %v", now, err)
	}
	if _, err := os.Stat(factory); err == nil {
		t.Error("the file that install made is left")
	}
}

func TestTheBridgeClosesGatesWhateverBecomesOfTenterhook(t *testing.T) {
	m := newMachine(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	failing, err := os.ReadFile(self)
	program := filepath.Join(m.bin, "tenterhook.exe")
	if err == nil {
		err = os.WriteFile(program, failing, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	env := m.env
	for _, tt := range []struct {
		ends, event string
		code        int
		says        string
	}{
		{"0", "claude PreToolUse", 0, "approve"}, // what it says in good order counts
		{"1", "claude PreToolUse", 2, "exit code 1"},
		{"-1073741819", "claude PreToolUse", 2, "could not decide"},
		{"panic", "claude PreToolUse", 2, "it fails"},
		{"panic", "claude Stop", 0, "it fails"},
		{"hang", "codex SessionEnd", 0, "no answer within"}, // the event with the shortest limit, 3 s
		{"gone", "claude PreToolUse", 2, "could not decide"},
		{"gone", "claude Stop", 0, "could not decide"},
	} {
		if tt.ends == "gone" {
			_ = os.Remove(program)
		}
		m.env = append(env[:len(env):len(env)], "ENDS="+tt.ends)
		said := m.cmd("tenterhook-bridge "+tt.event, "{}", tt.code)
		if !strings.Contains(said, tt.says) || tt.ends != "0" && strings.Contains(said, "approve") {
			t.Errorf("%s, %s: says %s", tt.event, tt.ends, said)
		}
	}
}
