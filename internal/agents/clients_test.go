package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/agents/loopback"
	programs "github.com/tenterhook/tenterhook/internal/built"
)

// clientsDir is where npm has installed the clients, each in a directory of its
// name; .ci/run fills it. Without it no client runs: they take more time than
// all other tests together.
func clientsDir() string { return cmp.Or(os.Getenv("TENTERHOOK_TEST_CLIENTS"), programs.Nowhere) }

// built is the directory that commands made; the tests' end removes it.
var built string

// commands builds the commands once, beside each other.
var commands = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tenterhook-clients-")
	if err != nil {
		return "", err
	}
	built = dir
	return dir, programs.Into(dir, "cmd/tenterhook", "cmd/tenterhook-bridge")
})

// world is a hermetic home with one client, into which tenterhook is installed.
type world struct {
	t                    *testing.T
	agent                string
	dir, home, workspace string
	bin                  string   // of our commands
	more                 []string // arguments of the client
	without              []string // arguments that the client does not get
	extra                []string // variables of the client
	umask                string   // of the client, "" = the test's

	become func(*exec.Cmd) // has a command run as another user; nil = as the test
}

// clientOf is the program of a client.
func clientOf(name string) string {
	return filepath.Join(clientsDir(), name, "node_modules/.bin", places[name].clients[0])
}

func newWorld(t *testing.T, name string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("clients are not run with -short")
	}
	if _, err := os.Stat(clientOf(name)); err != nil {
		t.Skipf("%s is not there (%v; Wine has none): .ci/run installs it, and sets TENTERHOOK_TEST_CLIENTS to its directory", name, err)
	}
	built, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, agent: name, dir: t.TempDir()}
	w.isClient()
	w.home, w.workspace, w.bin = w.dir+"/h", w.dir+"/w", w.dir+"/bin"
	for _, dir := range []string{w.home + "/.config/tenterhook/hooks", w.workspace, w.bin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"tenterhook", "tenterhook-bridge"} {
		if err := os.Link(filepath.Join(built, command), filepath.Join(w.bin, command)); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, w.bin+"/probe-mcp")
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", w.workspace).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	w.configure()
	t.Cleanup(func() { _, _ = w.run("tenterhook", "daemon", "stop") }) // none may be there
	return w
}

// beside is another client in the same home and workspace.
func (w *world) beside(name string) *world {
	other := *w
	other.agent, other.more = name, nil
	other.isClient()
	other.configure()
	return &other
}

// configure writes what the client needs, before tenterhook is installed.
func (w *world) configure() {
	server := map[string]any{"command": w.bin + "/probe-mcp", "args": []string{}}
	trusted := map[string]any{"command": w.bin + "/probe-mcp", "args": []string{}, "trust": true}
	switch w.agent {
	case "claude":
		w.json(w.dir+"/mcp.json", map[string]any{"mcpServers": map[string]any{"probe": server}})
		w.more = []string{"--mcp-config", w.dir + "/mcp.json"}
	case "codex":
		w.more = []string{"-c", `mcp_servers.probe={command="` + w.bin + `/probe-mcp"}`}
	case "gemini", "qwen": // in the form that they would bring it into themselves
		w.json(w.home+"/."+w.agent+"/settings.json", map[string]any{
			"$version":   4,
			"security":   map[string]any{"auth": map[string]any{"selectedType": map[string]string{"gemini": "gemini-api-key", "qwen": "openai"}[w.agent]}, "folderTrust": map[string]any{"enabled": false}},
			"general":    map[string]any{"enableAutoUpdate": false},
			"privacy":    map[string]any{"usageStatisticsEnabled": false},
			"telemetry":  map[string]any{"enabled": false},
			"mcpServers": map[string]any{"probe": trusted},
		})
	case "opencode":
		w.json(w.home+"/.config/opencode/opencode.json", map[string]any{"$schema": "https://opencode.ai/config.json", "mcp": map[string]any{"probe": map[string]any{"type": "local", "command": []string{w.bin + "/probe-mcp"}}}})
	case "cline":
		w.json(w.dir+"/mcp.json", map[string]any{"mcpServers": map[string]any{"probe": server}})
		w.extra = []string{"CLINE_MCP_SETTINGS_PATH=" + w.dir + "/mcp.json"}
	case "copilot":
		w.json(w.home+"/.copilot/config.json", map[string]any{"trusted_folders": []string{w.workspace}, "trustedFolders": []string{w.workspace}, "banner": "never"})
		w.json(w.home+"/.copilot/mcp-config.json", map[string]any{"mcpServers": map[string]any{"probe": map[string]any{
			"type": "local", "command": w.bin + "/probe-mcp", "args": []string{}, "tools": []string{"*"}}}})
	}
}

func (w *world) json(path string, v any) {
	w.t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	write(w.t, path, data)
}

// hook adds a hook to the user's folder. @D@ stands for the world's directory.
func (w *world) hook(name, frontmatter, script string) {
	w.t.Helper()
	w.hookIn(w.home+"/.config/tenterhook/hooks", name, frontmatter, script)
}

func (w *world) hookIn(folder, name, frontmatter, script string) {
	w.t.Helper()
	text := "+++\n" + strings.TrimSpace(frontmatter) + "\n"
	if script != "" {
		text += "command = \"./run.sh\"\n"
		path := filepath.Join(folder, name, "run.sh")
		write(w.t, path, []byte("#!/bin/sh\n"+strings.ReplaceAll(script, "@D@", w.dir)+"\n"))
		if err := os.Chmod(path, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	write(w.t, filepath.Join(folder, name, "HOOK.md"), []byte(text+"+++\n"))
}

func (w *world) env(more ...string) []string {
	paths := []string{filepath.Join(clientsDir(), w.agent, "node_modules/.bin"), os.Getenv("PATH")}
	return append([]string{"PATH=" + strings.Join(paths, ":"), "HOME=" + w.home, "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8"}, more...)
}

// run runs one of our commands.
func (w *world) run(command string, args ...string) (string, error) {
	return w.runWith(nil, command, args...)
}

func (w *world) runWith(env []string, command string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(w.bin, command), args...)
	cmd.Env, cmd.Dir = w.env(env...), w.workspace
	if w.become != nil {
		w.become(cmd)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) install() {
	w.t.Helper()
	if out, err := w.run("tenterhook", "install", w.agent, "--yes"); err != nil {
		w.t.Fatalf("install: %v\n%s", err, out)
	}
}

// trustProject has Codex read the workspace's own configuration.
func (w *world) trustProject() {
	w.t.Helper()
	path := w.home + "/.codex/config.toml"
	text := snapshot(w.t, w.home)[path]
	if entry := "[projects." + compact(w.workspace) + "]\n"; !strings.Contains(text, entry) {
		write(w.t, path, []byte(text+"\n"+entry+"trust_level = \"trusted\"\n"))
	}
}

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.Remove(path); err != nil {
		w.t.Fatal(err)
	}
}

// session is one run of the client.
type session struct {
	*world
	model *loopback.Model
	out   string
	err   error
}

const clientTime = 5 * time.Minute

// prompt runs the client on a prompt, with a model that plays the script.
func (w *world) prompt(prompt string, script ...loopback.Conversation) *session {
	w.t.Helper()
	model, err := loopback.Start(script...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = model.Close() })
	c := clients[w.agent]
	at := modelAt{url: model.URL, dir: w.dir}
	for name, text := range c.files(at) {
		write(w.t, filepath.Join(w.dir, name), []byte(text))
	}
	args := slices.DeleteFunc(c.args(at, prompt), func(arg string) bool { return slices.Contains(w.without, arg) })
	if w.agent == "codex" {
		args = slices.Insert(args, 1, w.more...)
	} else {
		args = append(args, w.more...)
	}
	program := clientOf(w.agent)
	cmd := exec.Command(program, args...)
	if w.umask != "" {
		cmd = exec.Command("/bin/sh", append([]string{"-c", "umask " + w.umask + `; exec "$0" "$@"`, program}, args...)...)
	}
	cmd.Env, cmd.Dir = append(w.env(c.env(at)...), w.extra...), w.workspace
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	kill := ownGroup(cmd)
	if w.become != nil {
		w.become(cmd)
	}
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Start()
	if err == nil {
		timer := time.AfterFunc(clientTime, kill)
		err = cmd.Wait()
		timer.Stop()
		kill() // what it left behind
	}
	return &session{w, model, out.String(), err}
}

func (s *session) ran(file string) bool {
	_, err := os.Stat(filepath.Join(s.dir, file))
	return err == nil
}

// want checks what ran and what reached the model.
func (s *session) want(file string, ran bool, told ...string) {
	s.t.Helper()
	if s.ran(file) != ran {
		s.t.Errorf("%s: ran %v, want %v", file, !ran, ran)
	}
	for _, text := range told {
		if !s.model.Told(text) {
			s.t.Errorf("%s: the model was not told %q", file, text)
		}
	}
	if s.t.Failed() {
		s.dump()
	}
}

// dump logs what the client printed and what the model got last, once.
func (s *session) dump() {
	requests := s.model.Requests()
	last := ""
	if len(requests) > 0 {
		last = requests[len(requests)-1]
	}
	s.t.Logf("client: %v\n%s\n%d requests, the last ends:\n%s", s.err, tail(s.out, 3000), len(requests), tail(last, 6000))
	s.t.FailNow()
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// touch is a turn that makes files with the client's shell, a call for each.
func (w *world) touch(files ...string) (t loopback.Turn) {
	for _, file := range files {
		t.Calls = append(t.Calls, clients[w.agent].shell("touch "+w.dir+"/"+file))
	}
	return t
}

// line is a turn that runs a line in the client's shell.
func (w *world) line(command string) loopback.Turn {
	return loopback.Turn{Calls: []loopback.Call{clients[w.agent].shell(command)}}
}

// tool is a turn that calls another tool.
func tool(name string, input map[string]any) loopback.Turn {
	return loopback.Turn{Calls: []loopback.Call{{Name: name, Input: input}}}
}

// mcpNames are the clients' names of the tool mark of the server probe. pi has no
// such tools.
var mcpNames = map[string]string{"claude": "mcp__probe__mark", "codex": "mcp__probe@@mark", "gemini": "mcp_probe_mark", "copilot": "probe-mark",
	"qwen": "mcp__probe__mark", "opencode": "probe_mark", "cline": "probe__mark"}

// writeCall is a call of the client's own tool that writes a file.
func (w *world) writeCall(file string) loopback.Call {
	path := w.workspace + "/" + file
	turns := map[string]loopback.Turn{
		"claude":   tool("Write", map[string]any{"file_path": path, "content": "x"}),
		"codex":    {Calls: []loopback.Call{clients["codex"].shell("apply_patch '*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch'")}},
		"gemini":   tool("write_file", map[string]any{"file_path": path, "content": "x"}),
		"copilot":  tool("create", map[string]any{"path": path, "file_text": "x"}),
		"qwen":     tool("write_file", map[string]any{"file_path": path, "content": "x"}),
		"opencode": tool("write", map[string]any{"filePath": path, "content": "x"}),
		"pi":       tool("write", map[string]any{"path": path, "content": "x"}),
		"cline":    tool("editor", map[string]any{"path": path, "new_text": "x"}),
	}
	return turns[w.agent].Calls[0]
}

// all are the clients that are run.
var all = []string{"claude", "codex", "gemini", "copilot", "qwen", "opencode", "pi"}

func eachClient(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, name))
		})
	}
}

const before = "event = \"PreToolUse\"\nmatcher = \"Bash\"\n"

func onTouch(suffix string) string {
	return before + fmt.Sprintf("if = \"Bash(touch *-%s)\"\n", suffix)
}

func specificAnswer(fields string) string {
	return `cat <<'END'
{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + fields + `}}
END`
}

// snapshot reads the files below a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, path := range files(t, dir) {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			found[path] = string(read(t, path))
		}
	}
	return found
}
