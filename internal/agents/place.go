package agents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// Scope says whose configuration is changed.
type Scope string

// The scopes of an installation.
const (
	User    Scope = "user"
	Project Scope = "project"
	Managed Scope = "managed" // of the machine's administrator
)

// Env is where things are. Each field must be set.
type Env struct {
	Getenv   func(string) string
	Home     string
	Project  string // the root of the project, for the scope Project and for switch-offs
	StateDir string // backups and receipts
	Program  string // the absolute path of tenterhook-bridge
	// Where says where the operator's hooks are, as "HOME=/home/me": an agent may
	// run with another environment. Empty = where the account's are.
	Where []string
	// Transport is how Claude Code asks the daemon: CommandTransport,
	// HTTPTransport, or "" for what is installed.
	Transport string
	Root      string // in front of the machine's own directories; "" = none, for tests
	Windows   bool   // the agents run on Windows
}

// in is the Env for a scope. The machine's entries are for all its users.
func (e Env) in(s Scope) Env {
	if s == Managed {
		e.Where = nil
	}
	return e
}

// target is one file of an installation.
type target struct {
	path string
	own  []byte // the whole content of a file of our own; nil = a shared file
	exec bool

	keys   []string // where the events are, in a shared file
	shape  shape
	syntax syntax
	fresh  string     // what a shared file holds that is not there yet
	door   *door.Door // of entries that ask over HTTP; nil = they are commands
}

// place is where an agent is configured.
type place struct {
	clients []string // names of its program
	home    homeDir  // of the user's configuration; the zero homeDir = it has none that is known
	project string   // its directory in a project, "" = none
	windows shell    // what runs its entries on Windows
	// targets are the files of an installation, in the directory of its scope.
	targets func(e Env, a *bridge.Agent, s Scope, dir string) ([]target, error)
}

// homeDir is a user's directory of an agent, as its client finds it.
type homeDir struct {
	variable string // the client's variable that names another place; "" = it has none
	below    string // what the client appends to the variable's directory
	standard string // below the home directory
	tilde    bool   // the client expands ~ in the variable
}

// homeOf is the user's directory of an agent, "" if it has none. It fails if the
// client's own variable names no absolute path: where that is depends on the
// directory that the client is started in.
func (e Env) homeOf(agent string) (string, error) {
	h := places[agent].home
	if h == (homeDir{}) {
		return "", nil
	}
	dir := ""
	if h.variable != "" {
		dir = e.Getenv(h.variable)
	}
	if dir == "" {
		return filepath.Join(e.Home, h.standard), nil
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && h.tilde && (rest == "" || os.IsPathSeparator(rest[0])) {
		dir = filepath.Join(e.Home, rest)
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s=%s is no absolute path; set it to one, or unset it", h.variable, dir)
	}
	return filepath.Join(dir, h.below), nil
}

// dirOf is the directory of a scope.
func (e Env) dirOf(a *bridge.Agent, s Scope) (string, error) {
	where := places[a.Name]
	switch {
	case s == Managed && a.Name == "claude":
		return e.ofMachine(claudeManaged()), nil
	case s == Managed:
		return "", noScope(a, s, "leave out --managed")
	case s == Project && where.project != "":
		return filepath.Join(e.Project, where.project), nil
	case s == User && where.home != (homeDir{}):
		return e.homeOf(a.Name)
	}
	return "", noScope(a, s, "use the other scope (--project, or none)")
}

func noScope(a *bridge.Agent, s Scope, remedy string) error {
	return fmt.Errorf("%s has no %s configuration that tenterhook installs into; %s", a.Title, s, remedy)
}

const emptyObject = "{\n}\n"

// inOneFile are the targets of an agent with one file of entries that others
// share.
func inOneFile(name string, s shape, y syntax, fresh string) func(Env, *bridge.Agent, Scope, string) ([]target, error) {
	return func(_ Env, _ *bridge.Agent, _ Scope, dir string) ([]target, error) {
		return []target{{path: filepath.Join(dir, name), keys: []string{"hooks"}, shape: s, syntax: y, fresh: fresh}}, nil
	}
}

var places map[string]place

func init() { // the functions refer to the table
	places = map[string]place{
		"claude": {
			clients: []string{"claude"}, home: homeDir{variable: "CLAUDE_CONFIG_DIR", standard: ".claude"}, project: ".claude", windows: noShell,
			targets: func(e Env, a *bridge.Agent, s Scope, dir string) ([]target, error) {
				name := "settings.json"
				if s == Managed {
					name = "managed-settings.json"
				}
				return inOneFile(name, grouped, syntax{bom: true}, emptyObject)(e, a, s, dir)
			},
		},
		"codex": {
			clients: []string{"codex"}, home: homeDir{variable: "CODEX_HOME", standard: ".codex"}, project: ".codex", windows: powershell,
			targets: inOneFile("hooks.json", grouped, syntax{}, emptyObject),
		},
		"gemini": {
			clients: []string{"gemini"}, home: homeDir{variable: "GEMINI_CLI_HOME", below: ".gemini", standard: ".gemini"}, project: ".gemini", windows: powershell,
			targets: geminiTargets,
		},
		"copilot": {
			clients: []string{"copilot"}, home: homeDir{variable: "COPILOT_HOME", standard: ".copilot"}, project: ".github", windows: powershell,
			targets: func(e Env, a *bridge.Agent, _ Scope, dir string) ([]target, error) {
				return []target{{path: filepath.Join(dir, "hooks", "tenterhook.json"), own: eventsFile(e.caller(a.Name), a, copilots, `{"version":1,"hooks":{}}`)}}, nil
			},
		},
		"qwen": {
			clients: []string{"qwen"}, home: homeDir{variable: "QWEN_HOME", standard: ".qwen", tilde: true}, project: ".qwen", windows: powershell,
			targets: inOneFile("settings.json", grouped, syntax{comments: true, bom: true}, emptyObject),
		},
		"opencode": {
			clients: []string{"opencode"}, home: homeDir{variable: "XDG_CONFIG_HOME", below: "opencode", standard: ".config/opencode"}, project: ".opencode", windows: noShell,
			targets: func(e Env, a *bridge.Agent, _ Scope, dir string) ([]target, error) {
				return []target{{path: filepath.Join(dir, "plugin", "tenterhook.js"), own: e.caller(a.Name).naming(opencodePlugin)}}, nil
			},
		},
		"pi": {
			clients: []string{"pi"}, home: homeDir{variable: "PI_CODING_AGENT_DIR", standard: ".pi/agent", tilde: true}, project: ".pi", windows: noShell,
			targets: func(e Env, a *bridge.Agent, _ Scope, dir string) ([]target, error) {
				return []target{{path: filepath.Join(dir, "extensions", "tenterhook.ts"), own: e.caller(a.Name).naming(piExtension)}}, nil
			},
		},
		"cline": {
			clients: []string{"cline"}, home: homeDir{standard: ".cline"}, project: ".clinerules", windows: powershell,
			targets: func(e Env, a *bridge.Agent, _ Scope, dir string) (list []target, err error) {
				c := e.caller(a.Name)
				for _, event := range a.Events() {
					t := target{path: filepath.Join(dir, "hooks", event), exec: true, own: []byte("#!/bin/sh\n" + c.line(a, event) + "\n")}
					if c.shell == powershell { // which reads no UTF-8 without a mark
						t.path, t.own = t.path+".ps1", []byte("\ufeff# Written by tenterhook.\r\n"+c.line(a, event)+"\r\n")
					}
					list = append(list, t)
				}
				return list, nil
			},
		},
		"cursor": {
			clients: []string{"cursor"}, home: homeDir{standard: ".cursor"}, project: ".cursor", windows: powershell,
			targets: inOneFile("hooks.json", cursors, syntax{}, "{\n  \"version\": 1\n}\n"),
		},
		"windsurf": {
			clients: []string{"windsurf"}, home: homeDir{standard: ".codeium/windsurf"}, project: ".windsurf", windows: powershell,
			targets: inOneFile("hooks.json", plain, syntax{}, emptyObject),
		},
		"factory": {
			clients: []string{"droid"}, home: homeDir{standard: ".factory"}, project: ".factory", windows: cmdExe,
			targets: inOneFile("settings.json", grouped, syntax{}, emptyObject),
		},
		"vscode": {
			clients: []string{"code"}, project: ".github", windows: powershell,
			targets: func(e Env, a *bridge.Agent, _ Scope, dir string) ([]target, error) {
				return []target{{path: filepath.Join(dir, "hooks", "tenterhook-vscode.json"), own: eventsFile(e.caller(a.Name), a, grouped, `{"hooks":{}}`)}}, nil
			},
		},
		"kiro": {
			clients: []string{"kiro-cli"}, home: homeDir{standard: ".kiro"}, project: ".kiro", windows: unknown,
			targets: kiroTargets,
		},
	}
}

func geminiTargets(e Env, a *bridge.Agent, s Scope, dir string) ([]target, error) {
	if s == Project {
		return inOneFile("settings.json", grouped, syntax{comments: true}, emptyObject)(e, a, s, dir)
	}
	extension := filepath.Join(dir, "extensions", "tenterhook")
	return []target{
		{path: filepath.Join(extension, "gemini-extension.json"), own: []byte("{\n  \"name\": \"tenterhook\",\n  \"version\": \"1.0.0\"\n}\n")},
		{path: filepath.Join(extension, "hooks", "hooks.json"), own: eventsFile(e.caller(a.Name), a, grouped, `{"hooks":{}}`)},
	}, nil
}

// kiroTargets are the files of all of Kiro's agents: each has hooks of its own.
func kiroTargets(_ Env, _ *bridge.Agent, _ Scope, dir string) (list []target, err error) {
	dir = filepath.Join(dir, "agents")
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range found {
		if filepath.Ext(file.Name()) == ".json" {
			list = append(list, target{path: filepath.Join(dir, file.Name()), keys: []string{"hooks"}, shape: kiros, fresh: emptyObject})
		}
	}
	return list, nil
}

// claudeManaged is the directory of an administrator's settings of Claude Code.
func claudeManaged() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// ofMachine is where a directory of the machine is. The environment does not say: it is anybody's to set.
func (e Env) ofMachine(dir string) string {
	if e.Root == "" {
		return dir
	}
	return filepath.Join(e.Root, strings.TrimPrefix(dir, filepath.VolumeName(dir)))
}

// eventsFile is the content of a file of our own that holds all entries.
func eventsFile(c caller, a *bridge.Agent, s shape, skeleton string) []byte {
	d, err := readDocument("", []byte(skeleton), syntax{})
	if err != nil {
		return nil
	}
	d.flat = false
	if err := d.addEntries([]string{"hooks"}, a.Events(), func(event string) string { return s.element(c, a, event) }); err != nil {
		return nil
	}
	return append(d.bytes(), '\n')
}

// clientPath finds an agent's program on the PATH of the environment.
func (e Env) clientPath(agent string) string {
	for _, name := range places[agent].clients {
		for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
			for _, ending := range endings(e.Getenv) {
				path := filepath.Join(cmp.Or(dir, "."), name) + ending
				if info, err := os.Stat(path); err == nil && executable(info) {
					return path
				}
			}
		}
	}
	return ""
}

// present reports whether an agent is on this machine, and by what.
func (e Env) present(agent string) (by string, ok bool) {
	if path := e.clientPath(agent); path != "" {
		return path, true
	}
	dir, err := e.homeOf(agent)
	if err != nil || dir == "" {
		return "", false
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, true
	}
	return "", false
}
