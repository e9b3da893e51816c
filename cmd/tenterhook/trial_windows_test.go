package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

// machine is a user's directories, with a project on a drive of its own, and the programs beside each other in a folder
// with a space.
type machine struct {
	t                          *testing.T
	bin, config, data, project string
	env                        []string
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
		"XDG_STATE_HOME="+filepath.Join(home, "state"), "Path="+m.bin+";"+os.Getenv("PATH"))
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
	for _, line := range []string{"tenterhook-bridge claude PreToolUse & if errorlevel 1 exit 2", `sh -c "tenterhook-bridge claude PreToolUse || exit 2"`} {
		m.cmd(line, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, 0)
		m.cmd(strings.Replace(line, "tenterhook-bridge", "no-bridge", 1), "", 2)
	}
	for command, want := range map[string]string{"echo FORBIDDEN": "FORBIDDEN is not allowed", "git push --force": "force"} {
		event, _ := json.Marshal(map[string]any{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]string{"command": command}})
		if said := m.cmd("tenterhook-bridge claude PreToolUse", string(event), 2); !strings.Contains(said, want) {
			t.Errorf("%s: the bridge says %s", command, said)
		}
	}
}
